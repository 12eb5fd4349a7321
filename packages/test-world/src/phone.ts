// The phone registry in the service's tests: its settings, the codes that it sends, and the messages that wallets sign.
import { existsSync, readFileSync } from "node:fs";
import {
  bindingSlots,
  bindingTypedData,
  deriveKeys,
  encodeShieldedAddress,
  randomSeed,
  unlinkTypedData,
} from "@sotto/protocol";
import type { HDNodeWallet } from "ethers";
import type { World } from "./service.ts";

/** Settings for a local chain. The test sets SOTTO_PHONE_CODE_FILE, the file that receives the codes. */
export const phoneSettings: Record<string, string> = {
  SOTTO_PHONE_REGISTRY: "on",
  SOTTO_PHONE_STORE: "sqlite::memory:",
  SOTTO_PHONE_SENDER: "file",
};

export interface SentCode {
  readonly phoneNumber: string;
  readonly code: string;
  readonly walletAddress: string;
  readonly expiresAt: number;
}

/** The codes that the file sender wrote, oldest first. */
export function sentCodes(file: string): SentCode[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line));
}

const randomAddress = ({ chainId, pool }: World): string => {
  const keys = deriveKeys(randomSeed(), { chainId: BigInt(chainId), pool });
  return encodeShieldedAddress({ encryptionKey: keys.encryptionKey, ownerTag: keys.ownerTag(0) });
};

const PHONE = "+4915112345678";

/** Values for the examples of docs/api.md. @param service base URL */
export async function signPhone(service: string, world: World, account: HDNodeWallet) {
  const wallet = account.address.toLowerCase() as `0x${string}`;
  const [issuedAt = 0] = bindingSlots(Date.now());
  const place = { chainId: BigInt(world.chainId), pool: world.pool as `0x${string}`, service };
  const key = randomAddress(world);
  const link = bindingTypedData({ phone: PHONE, wallet, key, ...place, issuedAt });
  const unlink = unlinkTypedData({ phone: PHONE, wallet, ...place, issuedAt });
  return {
    phoneNumber: PHONE,
    wallet,
    encryptionPublicKey: key,
    service,
    unlinkIssuedAt: issuedAt,
    linkSignature: await account.signTypedData(link.domain, link.types, link.message),
    unlinkSignature: await account.signTypedData(unlink.domain, unlink.types, unlink.message),
  };
}
