import { type Address, LOOKUP_LIFETIME_SECONDS, lookupTypedData, parseAddress } from "@sotto/protocol";
import type { Wallet } from "@sotto/wallet";
import { hexlify, randomBytes, type Signer } from "ethers";

/**
 * An account that signs lookups. Do not use an account that deposits: the registry sees it with every number it looks
 * up.
 */
export type LookupSigner = Pick<Signer, "getAddress" | "signTypedData">;

/** Signs typed data with an ethers signer. The signer gets a copy, because it may change the object. */
export function signTyped(
  signer: LookupSigner,
  typed: {
    readonly domain: object;
    readonly types: Readonly<Record<string, { name: string; type: string }[]>>;
    readonly message: object;
  },
): Promise<string> {
  return signer.signTypedData({ ...typed.domain }, { ...typed.types }, { ...typed.message });
}

export async function addressOf(signer: LookupSigner): Promise<Address> {
  return parseAddress(await signer.getAddress(), "the account");
}

/**
 * The headers of one lookup: a signature over the number, a fresh nonce and a deadline, valid only for this registry.
 * @param service the registry's base URL
 */
export async function signLookup(
  signer: LookupSigner,
  phone: string,
  service: string,
  payer: Wallet,
): Promise<Record<string, string>> {
  const wallet = await addressOf(signer);
  const nonce = hexlify(randomBytes(16)).slice(2);
  // A minute less than the allowed lifetime, because clocks differ.
  const deadline = Math.floor(payer.now() / 1000) + LOOKUP_LIFETIME_SECONDS - 60;
  const { chainId } = payer.pool;
  const signature = await signTyped(signer, lookupTypedData({ phone, wallet, chainId, service, nonce, deadline }));
  return {
    "x-sotto-wallet": wallet,
    "x-sotto-nonce": nonce,
    "x-sotto-deadline": String(deadline),
    "x-sotto-signature": signature,
  };
}
