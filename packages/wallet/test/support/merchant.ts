import type { WalletOptions } from "@sotto/wallet";
import { URL, World } from "./world.ts";

export const SEED = new Uint8Array(32).map((_, i) => 7 * i + 1);

/** A payer with SEED and these spendable notes, a merchant, and a request to pay it 1,000 base units. */
export async function start(amounts: bigint[], changes: Partial<WalletOptions> = {}) {
  const world = new World();
  const [payer, merchant] = [await world.funded(amounts, { seed: SEED, ...changes }), await world.wallet()];
  return {
    world,
    payer,
    merchant,
    request: { recipient: world.recipient(merchant), amount: 1_000n, resourceUrl: URL },
  };
}
