import { type Chain, poolViews } from "@sotto/chain";
import { parseAddress } from "@sotto/protocol";
import { ServiceError } from "../errors.ts";
import type { PoolState } from "../ports.ts";
import { tokenInterface } from "../relayer/calldata.ts";

/** How long a known root is cached, ms. Only a reorganization can make it unknown. */
const ROOT_MS = 60_000;
const MAX_ROOTS = 1_024;

/** @throws ServiceError CHAIN_UNAVAILABLE */
export function poolState(chain: Chain, pool: string, token: string, clock: () => number): PoolState {
  /** Known roots, with the time until which each is cached. */
  const roots = new Map<bigint, number>();
  const views = poolViews(chain, parseAddress(pool));
  const askToken = (name: string, ...values: readonly unknown[]) => chain.read(tokenInterface, token, name, values);
  return {
    async isKnownRoot(root) {
      if ((roots.get(root) ?? 0) > clock()) return true;
      if (!(await answered(views.isKnownRoot(root)))) return false;
      if (roots.size >= MAX_ROOTS) roots.clear();
      roots.set(root, clock() + ROOT_MS);
      return true;
    },
    isSpent: (nullifier) => answered(views.isSpent(nullifier)),
    tokensOf: async (account) => BigInt(await answered(askToken("balanceOf", account))),
    isAuthorizationUsed: async (account, nonce) =>
      (await answered(askToken("authorizationState", account, nonce))) === true,
  };
}

/** @throws ServiceError CHAIN_UNAVAILABLE */
async function answered<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (cause) {
    throw new ServiceError("CHAIN_UNAVAILABLE", "no node of the chain responds; try again", {}, { cause });
  }
}
