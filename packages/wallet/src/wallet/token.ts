import { type ChainSource, isAnotherContract, readContract, readNewest } from "@sotto/chain";
import { tokenInterface } from "@sotto/chain/ethers";
import { getAddress, type TypedDataDomain, TypedDataEncoder } from "ethers";
import { WalletError } from "../errors.ts";
import type { PoolInfo } from "./connect.ts";

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

type IsConclusive = (answer: unknown) => boolean;

/** The token's answer; undefined if it has no such function. */
export async function answerOf(
  chain: ChainSource,
  { token }: PoolInfo,
  name: string,
  values: unknown[],
  isConclusive: IsConclusive = () => true,
): Promise<unknown> {
  const question = { abi: tokenInterface, to: token, name, values };
  try {
    return await readNewest(chain, (node, block) => readContract<unknown>(node, question, block), isConclusive);
  } catch (cause) {
    if (isAnotherContract(cause)) return undefined;
    throw cause;
  }
}

/** The token's answer. @throws WalletError TOKEN_MISMATCH if it has no such function */
async function askToken(
  chain: ChainSource,
  pool: PoolInfo,
  name: string,
  values: unknown[],
  isConclusive?: IsConclusive,
): Promise<unknown> {
  const answer = await answerOf(chain, pool, name, values, isConclusive);
  if (answer !== undefined) return answer;
  throw new WalletError(
    "TOKEN_MISMATCH",
    `the contract at ${pool.token} does not answer ${name}, so it is not the expected token`,
  );
}

/** The token's EIP-712 domain, built from its name and version and compared with the contract's own. */
export async function tokenDomain(chain: ChainSource, pool: PoolInfo): Promise<TypedDataDomain> {
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
