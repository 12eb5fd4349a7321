import type { ChainSource } from "@sotto/chain";
import type { DepositRequest } from "@sotto/chain/ethers";
import {
  assertAmount,
  DEPOSIT_AUTHORIZATION_TYPES,
  depositAuthorizationNonce,
  parseAddress,
  permit2Message,
} from "@sotto/protocol";
import { hexlify, randomBytes, ZeroHash } from "ethers";
import { WalletError } from "../errors.ts";
import type { PoolInfo } from "./connect.ts";
import type { DepositSigner } from "./deposit-signer.ts";
import { tryDeposit } from "./deposit-trial.ts";
import { signPermit2 } from "./permit2.ts";
import { answerOf, tokenDomain } from "./token.ts";

/** The notes of a deposit: owner tag and base units of each. */
export interface DepositNotes {
  ownerTags: bigint[];
  amounts: bigint[];
}

/** Maximum notes of one deposit, the same as the maximum of an append. */
export const DEPOSIT_NOTES = 64;

/** @throws WalletError INVALID_OPTION; SottoError INVALID_AMOUNT */
export function parseDepositAmounts(amounts: unknown, pool: PoolInfo): bigint[] {
  if (!Array.isArray(amounts) || amounts.length === 0 || amounts.length > DEPOSIT_NOTES)
    throw new WalletError("INVALID_OPTION", `amounts must have 1 to ${DEPOSIT_NOTES} amounts, one per note`);
  const checked = amounts.map((amount, i) => {
    const value = assertAmount(amount, `amounts[${i}]`);
    if (value >= pool.smallestDeposit) return value;
    const smallestDeposit = String(pool.smallestDeposit);
    const problem = `amounts[${i}] is ${value} base units, but the pool accepts at least ${smallestDeposit} base units`;
    throw new WalletError("INVALID_OPTION", problem, { smallestDeposit });
  });
  assertAmount(totalOf(checked), "the sum of amounts");
  return checked;
}

export function totalOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}

/**
 * Signs an authorization of `account` for exactly these notes: the token's own (EIP-3009) if a wallet can sign for it, and
 * otherwise Permit2's.
 * Anyone may submit it.
 * @param validBefore seconds since the Unix epoch
 * @throws WalletError DEPOSIT_REFUSED, NOT_APPROVED
 */
export async function signDeposit(
  chain: ChainSource,
  pool: PoolInfo,
  account: DepositSigner,
  notes: DepositNotes,
  validBefore: bigint,
): Promise<DepositRequest> {
  const from = parseAddress(await account.getAddress(), "account");
  const salt = hexlify(randomBytes(32));
  const terms = {
    chainId: String(pool.chainId),
    pool: pool.pool,
    from,
    ownerTags: notes.ownerTags.map(String),
    amounts: notes.amounts.map(String),
    salt,
    validAfter: "0",
    validBefore: String(validBefore),
  };
  // Bridged dollars may have EIP-3009 under a domain that does not follow from their name and version.
  const hasAuthorizations = (await answerOf(chain, pool, "authorizationState", [from, ZeroHash])) !== undefined;
  const domain = hasAuthorizations ? await tokenDomain(chain, pool) : undefined;
  if (domain === undefined) {
    const message = permit2Message({ ...notes, salt, token: pool.token, pool: pool.pool, validBefore });
    const { signed, permit } = await signPermit2(chain, pool, account, message);
    return tryDeposit(chain, pool.token, signed, { ...terms, permit2: permit === undefined ? {} : { permit } });
  }
  const nonce = depositAuthorizationNonce(notes, salt);
  const message = { from, to: pool.pool, value: totalOf(notes.amounts), validAfter: 0n, validBefore, nonce };
  return tryDeposit(
    chain,
    pool.token,
    await account.signTypedData(domain, DEPOSIT_AUTHORIZATION_TYPES, message),
    terms,
  );
}
