import type { ChainReader } from "@sotto/chain";
import type { Interface } from "ethers";
import { ServiceError } from "../errors/errors.ts";
import { poolInterface, tokenInterface } from "../relayer/pool.ts";
import type { PoolState } from "./ports.ts";

/** @throws ServiceError CHAIN_UNAVAILABLE */
export function poolState(chain: ChainReader, pool: string, token: string): PoolState {
  const asking =
    (abi: Interface, to: string) =>
    async (name: string, ...values: readonly unknown[]) => {
      try {
        return await chain.read(abi, to, name, values);
      } catch (cause) {
        throw new ServiceError("CHAIN_UNAVAILABLE", "the chain does not answer; try again", {}, { cause });
      }
    };
  const [askPool, askToken] = [asking(poolInterface, pool), asking(tokenInterface, token)];
  return {
    isKnownRoot: async (root) => (await askPool("isKnownRoot", root)) === true,
    isSpent: async (nullifier) => (await askPool("isSpent", nullifier)) === true,
    tokensOf: async (account) => BigInt(await askToken("balanceOf", account)),
    isAuthorizationUsed: async (account, nonce) => (await askToken("authorizationState", account, nonce)) === true,
  };
}
