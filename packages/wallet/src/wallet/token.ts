import { type ChainSource, isAnotherContract, readContract, readNewest } from "@sotto/chain";
import { tokenInterface } from "@sotto/chain/ethers";
import { getAddress, type TypedDataDomain, TypedDataEncoder } from "ethers";
import { WalletError } from "../errors.ts";
import type { PoolInfo } from "./connect.ts";

/** @throws WalletError INSUFFICIENT_TOKENS, TOKEN_MISMATCH */
export async function assertTokens(chain: ChainSource, pool: PoolInfo, account: string, needed: bigint): Promise<void> {
  const isEnough = (found: unknown) => BigInt(found as bigint) >= needed;
  const answer = await answerOf(chain, pool, "balanceOf", [account], isEnough);
  if (answer === undefined)
    throw new WalletError("TOKEN_MISMATCH", `the contract at ${pool.token} has no balances, so it is not a token`);
  const balance = BigInt(answer as bigint);
  if (balance >= needed) return;
  const missing = String(needed - balance);
  throw new WalletError(
    "INSUFFICIENT_TOKENS",
    `${account} holds ${balance} base units of the token, but ${needed} base units are needed: ${missing} base units more`,
    { needed: String(needed), available: String(balance), missing },
  );
}

/** The token's answer; undefined if it has no such function. */
export async function answerOf(
  chain: ChainSource,
  { token }: PoolInfo,
  name: string,
  values: unknown[],
  isConclusive: (answer: unknown) => boolean = () => true,
): Promise<unknown> {
  const question = { abi: tokenInterface, to: token, name, values };
  try {
    return await readNewest(chain, (node, block) => readContract<unknown>(node, question, block), isConclusive);
  } catch (cause) {
    if (isAnotherContract(cause)) return undefined;
    throw cause;
  }
}

/**
 * The token's EIP-712 domain, built from its name and version; undefined if the token's own is another one, so that nobody can
 * sign for it.
 */
export async function tokenDomain(chain: ChainSource, pool: PoolInfo): Promise<TypedDataDomain | undefined> {
  const [name, version, separator] = await Promise.all(
    ["name", "version", "DOMAIN_SEPARATOR"].map((field) => answerOf(chain, pool, field, [])),
  );
  const domain = {
    name: String(name),
    // Most tokens that have permits alone have no version, and theirs is 1.
    version: String(version ?? "1"),
    chainId: pool.chainId,
    verifyingContract: getAddress(pool.token),
  };
  return TypedDataEncoder.hashDomain(domain) === separator ? domain : undefined;
}
