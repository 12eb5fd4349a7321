import {
  BINDING_SLOT_SECONDS,
  bindingTypedData,
  deriveKeys,
  encodeShieldedAddress,
  parseAddress,
  randomSeed,
  type ShieldedAddress,
} from "@sotto/protocol";
import { Wallet } from "ethers";
import type { Place } from "./payments.ts";

/** The recipient: a wallet, its shielded address, and the wallet's signature of the binding. */
export interface Merchant {
  readonly wallet: string;
  readonly shielded: ShieldedAddress;
  readonly shieldedAddress: string;
  readonly viewingKey: bigint;
  readonly signature: string;
  /** Unix time, seconds. */
  readonly issuedAt: number;
}

/** @param listed a phone number and its registry, for a binding that includes them */
export async function createMerchant({ chainId, pool }: Place, listed = { phone: "", service: "" }): Promise<Merchant> {
  const account = Wallet.createRandom();
  const keys = deriveKeys(randomSeed(), { chainId: BigInt(chainId), pool });
  const wallet = parseAddress(account.address);
  const shielded = { encryptionKey: keys.encryptionKey, ownerTag: keys.ownerTag(0) };
  const shieldedAddress = encodeShieldedAddress(shielded);
  const issuedAt = Math.floor(Date.now() / 1000 / BINDING_SLOT_SECONDS) * BINDING_SLOT_SECONDS;
  const { domain, types, message } = bindingTypedData({
    ...listed,
    wallet,
    key: shieldedAddress,
    chainId: BigInt(chainId),
    pool: parseAddress(pool),
    issuedAt,
  });
  const signature = await account.signTypedData(domain, types, message);
  return { wallet, shielded, shieldedAddress, viewingKey: keys.viewingKey, signature, issuedAt };
}
