import type { Interface } from "ethers";
import { ServiceError } from "../errors/errors.ts";
import type { ChainReader } from "../relayer/chain/reader.ts";
import { CallReverted } from "../relayer/errors.ts";
import { poolInterface, tokenInterface } from "../relayer/pool.ts";
import type { PoolState } from "./ports.ts";

/** Asks the pool. @throws ServiceError CHAIN_UNAVAILABLE */
export const askPool = (chain: ChainReader, pool: string, name: string, values: readonly unknown[] = []) =>
  ask(chain, pool, poolInterface, name, values);

async function ask(chain: ChainReader, to: string, abi: Interface, name: string, values: readonly unknown[]) {
  try {
    return await chain.read(abi, to, name, values);
  } catch (cause) {
    if (cause instanceof CallReverted) throw cause;
    throw new ServiceError("CHAIN_UNAVAILABLE", "the chain does not answer; try again", {}, { cause });
  }
}

export function poolState(chain: ChainReader, pool: string, token: string): PoolState {
  const askToken = (name: string, ...values: readonly unknown[]) => ask(chain, token, tokenInterface, name, values);
  return {
    tokensOf: async (account) => BigInt(await askToken("balanceOf", account)),
    isAuthorizationUsed: async (account, nonce) => (await askToken("authorizationState", account, nonce)) === true,
    isKnownRoot: async (root) => (await askPool(chain, pool, "isKnownRoot", [root])) === true,
    isSpent: async (nullifier) => (await askPool(chain, pool, "isSpent", [nullifier])) === true,
  };
}
