import { ServiceError } from "../errors/errors.ts";
import type { ChainReader } from "../relayer/chain/reader.ts";
import { CallReverted } from "../relayer/errors.ts";
import { poolInterface } from "../relayer/pool.ts";
import type { PoolState } from "./ports.ts";

/** Asks the pool. @throws ServiceError CHAIN_UNAVAILABLE */
export async function askPool(chain: ChainReader, pool: string, name: string, values: readonly unknown[] = []) {
  const data = poolInterface.encodeFunctionData(name, values);
  try {
    return poolInterface.decodeFunctionResult(name, await chain.call({ to: pool, data }))[0];
  } catch (cause) {
    if (cause instanceof CallReverted) throw cause;
    throw new ServiceError("CHAIN_UNAVAILABLE", "the chain does not answer; try again", {}, { cause });
  }
}

export function poolState(chain: ChainReader, pool: string): PoolState {
  return {
    isKnownRoot: async (root) => (await askPool(chain, pool, "isKnownRoot", [root])) === true,
    isSpent: async (nullifier) => (await askPool(chain, pool, "isSpent", [nullifier])) === true,
  };
}
