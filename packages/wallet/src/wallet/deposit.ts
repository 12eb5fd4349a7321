import { type ChainSource, isAnotherContract, isNodeFault, readContract, readNewest } from "@sotto/chain";
import { type DepositRequest, tokenInterface } from "@sotto/chain/ethers";
import { assertAmount, DEPOSIT_AUTHORIZATION_TYPES, depositAuthorizationNonce, parseAddress } from "@sotto/protocol";
import { getAddress, hexlify, randomBytes, type Signer, type TypedDataDomain, TypedDataEncoder } from "ethers";
import { WalletError } from "../errors.ts";
import type { PoolInfo } from "./connect.ts";
import { tryDeposit } from "./deposit-trial.ts";

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

/** @throws WalletError INSUFFICIENT_TOKENS, TOKEN_MISMATCH */
export async function assertTokens(chain: ChainSource, pool: PoolInfo, account: string, needed: bigint): Promise<void> {
  const isEnough = (found: unknown) => BigInt(found as bigint) >= needed;
  const balance = BigInt((await askToken(chain, pool, "balanceOf", [account], isEnough)) as bigint);
  if (balance >= needed) return;
  const missing = String(needed - balance);
  throw new WalletError(
    "INSUFFICIENT_TOKENS",
    `${account} holds ${balance} base units of the token, but ${needed} base units are needed: ${missing} base units more`,
    { needed: String(needed), available: String(balance), missing },
  );
}

async function askToken(
  chain: ChainSource,
  pool: PoolInfo,
  name: string,
  values: unknown[],
  isConclusive: (answer: unknown) => boolean = () => true,
): Promise<unknown> {
  const question = { abi: tokenInterface, to: pool.token, name, values };
  try {
    return await readNewest(chain, (node, block) => readContract<unknown>(node, question, block), isConclusive);
  } catch (cause) {
    if (isNodeFault(cause) && !isAnotherContract(cause)) throw cause;
    throw new WalletError(
      "TOKEN_MISMATCH",
      `the contract at ${pool.token} does not answer ${name}, so it is not the expected token`,
      {},
      { cause },
    );
  }
}

/** The token's EIP-712 domain, built from its name and version and compared with the contract's own. */
async function tokenDomain(chain: ChainSource, pool: PoolInfo): Promise<TypedDataDomain> {
  const [name, version, separator] = await Promise.all(
    ["name", "version", "DOMAIN_SEPARATOR"].map((field) => askToken(chain, pool, field, [])),
  );
  const domain = {
    name: String(name),
    version: String(version),
    chainId: pool.chainId,
    verifyingContract: getAddress(pool.token),
  };
  if (TypedDataEncoder.hashDomain(domain) !== separator)
    throw new WalletError(
      "TOKEN_MISMATCH",
      `the token ${pool.token} uses a different EIP-712 domain than its name and version give`,
    );
  return domain;
}

/**
 * The part of an ethers v6 signer that authorizes a deposit. Its account needs no ETH. It can be a contract account or one with
 * a delegation (EIP-1271, EIP-7702) if the token accepts their signatures, as USDC does.
 */
export type DepositSigner = Pick<Signer, "getAddress" | "signTypedData">;

/**
 * Signs an EIP-3009 authorization of `account` for exactly these notes. Anyone may submit it.
 * @param validBefore seconds since the Unix epoch
 * @throws WalletError TOKEN_MISMATCH, DEPOSIT_REFUSED
 */
export async function signDeposit(
  chain: ChainSource,
  pool: PoolInfo,
  account: DepositSigner,
  notes: DepositNotes,
  validBefore: bigint,
): Promise<DepositRequest> {
  const from = parseAddress(await account.getAddress(), "account");
  const domain = await tokenDomain(chain, pool);
  const salt = hexlify(randomBytes(32));
  const value = totalOf(notes.amounts);
  const nonce = depositAuthorizationNonce(notes, salt);
  const message = { from, to: pool.pool, value, validAfter: 0n, validBefore, nonce };
  const signed: unknown = await account.signTypedData(domain, DEPOSIT_AUTHORIZATION_TYPES, message);
  return tryDeposit(chain, pool.token, signed, {
    chainId: String(pool.chainId),
    pool: pool.pool,
    from,
    ownerTags: notes.ownerTags.map(String),
    amounts: notes.amounts.map(String),
    salt,
    validAfter: "0",
    validBefore: String(validBefore),
  });
}
