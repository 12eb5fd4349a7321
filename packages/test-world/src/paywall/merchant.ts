import type { scheduleTypedData } from "@sotto/prepaid";
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

/** EIP-712 typed data of sotto. */
type TypedData = ReturnType<typeof bindingTypedData> | ReturnType<typeof scheduleTypedData>;

/** The recipient: a wallet, its shielded address, and the wallet's signature of the binding. */
export interface Merchant {
  readonly wallet: string;
  readonly shielded: ShieldedAddress;
  readonly shieldedAddress: string;
  readonly viewingKey: bigint;
  readonly signature: string;
  /** Unix time, seconds. */
  readonly issuedAt: number;
  /** Signs with the wallet. */
  sign(data: TypedData): Promise<string>;
}

/** @param listed a phone number and its registry, for a binding that includes them */
export async function createMerchant({ chainId, pool }: Place, listed = { phone: "", service: "" }): Promise<Merchant> {
  const account = Wallet.createRandom();
  const keys = deriveKeys(randomSeed(), { chainId: BigInt(chainId), pool });
  const wallet = parseAddress(account.address);
  const shielded = { encryptionKey: keys.encryptionKey, ownerTag: keys.ownerTag(0) };
  const shieldedAddress = encodeShieldedAddress(shielded);
  const issuedAt = Math.floor(Date.now() / 1000 / BINDING_SLOT_SECONDS) * BINDING_SLOT_SECONDS;
  const sign = ({ domain, types, message }: TypedData) => account.signTypedData(domain, types, message);
  const binding = bindingTypedData({
    ...listed,
    wallet,
    key: shieldedAddress,
    chainId: BigInt(chainId),
    pool: parseAddress(pool),
    issuedAt,
  });
  const signature = await sign(binding);
  return { wallet, shielded, shieldedAddress, viewingKey: keys.viewingKey, signature, issuedAt, sign };
}
