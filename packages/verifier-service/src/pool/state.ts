import type { Chain } from "@sotto/chain";
import { poolInterface } from "@sotto/chain/ethers";
import type { Interface } from "ethers";
import { ServiceError } from "../errors.ts";
import type { PoolState } from "../ports.ts";
import { tokenInterface } from "../relayer/calldata.ts";

/** How long a known root is cached, ms. Only a reorganisation can make it unknown. */
const ROOT_MS = 60_000;
const MAX_ROOTS = 1_024;

/** @throws ServiceError CHAIN_UNAVAILABLE */
export function poolState(chain: Chain, pool: string, token: string, clock: () => number): PoolState {
  /** Known roots, and until when they are cached. */
  const roots = new Map<bigint, number>();
  const asking =
    (abi: Interface, to: string) =>
    async (name: string, ...values: readonly unknown[]) => {
      try {
        return await chain.read(abi, to, name, values);
      } catch (cause) {
        throw new ServiceError("CHAIN_UNAVAILABLE", "no node of the chain responds; try again", {}, { cause });
      }
    };
  const [askPool, askToken] = [asking(poolInterface, pool), asking(tokenInterface, token)];
  return {
    async isKnownRoot(root) {
      if ((roots.get(root) ?? 0) > clock()) return true;
      if ((await askPool("isKnownRoot", root)) !== true) return false;
      if (roots.size >= MAX_ROOTS) roots.clear();
      roots.set(root, clock() + ROOT_MS);
      return true;
    },
    isSpent: async (nullifier) => (await askPool("isSpent", nullifier)) === true,
    tokensOf: async (account) => BigInt(await askToken("balanceOf", account)),
    isAuthorizationUsed: async (account, nonce) => (await askToken("authorizationState", account, nonce)) === true,
  };
}
