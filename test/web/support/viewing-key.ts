import type { WorldPlace } from "@sotto/test-world/wallets";

/** The file that `sotto export --viewing-key` writes. */
export function viewingKeyText(
  { viewingKey, shieldedAddress }: { readonly viewingKey: bigint; readonly shieldedAddress: string },
  { chainId, pool }: Pick<WorldPlace, "chainId" | "pool">,
): string {
  const key = `0x${viewingKey.toString(16).padStart(64, "0")}`;
  const place = { chainId: String(chainId), pool };
  return JSON.stringify({ type: "sotto-viewing-key", version: 1, viewingKey: key, shieldedAddress, ...place });
}
