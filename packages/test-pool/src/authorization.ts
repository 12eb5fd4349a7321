import { DEPOSIT_AUTHORIZATION_TYPES, depositAuthorizationNonce } from "@sotto/protocol";

export interface Authorization {
  readonly from: string;
  readonly to: string;
  readonly value: bigint;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly nonce: string;
}

export interface TypedDataSigner {
  signTypedData(
    domain: object,
    types: Record<string, { name: string; type: string }[]>,
    message: object,
  ): Promise<string>;
}

/** The EIP-712 domain of the test dollar. */
export const domainOf = (chainId: bigint | number, verifyingContract: string) => ({
  name: "USD Coin",
  version: "2",
  chainId,
  verifyingContract,
});

/** Arguments of `depositWithAuthorization` up to and including the salt. */
export interface SponsoredDeposit {
  readonly from: string;
  readonly ownerTags: readonly bigint[];
  readonly amounts: readonly bigint[];
  readonly salt: string;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
}

/** The message that a depositor signs for these notes. */
export function messageOf(pool: string, deposit: SponsoredDeposit): Authorization {
  const { from, validAfter, validBefore } = deposit;
  const value = deposit.amounts.reduce((sum, amount) => sum + amount, 0n);
  const nonce = depositAuthorizationNonce(deposit, deposit.salt);
  return { from, to: pool, value, validAfter, validBefore, nonce };
}

/** The authorization that a depositor signs for exactly these notes, with its signature. */
export async function signDeposit(
  { chainId, pool, token }: { readonly chainId: bigint | number; readonly pool: string; readonly token: string },
  depositor: TypedDataSigner,
  deposit: SponsoredDeposit,
) {
  const [domain, message] = [domainOf(chainId, token), messageOf(pool, deposit)];
  const signature = await depositor.signTypedData(domain, DEPOSIT_AUTHORIZATION_TYPES, message);
  return { nonce: message.nonce, signed: { ...deposit, signature } };
}
