import {
  type Chain,
  type ChainSource,
  isAnotherContract,
  poolViews,
  readContract,
  readNewest,
  signatureCall,
} from "@sotto/chain";
import { tokenInterface } from "@sotto/chain/ethers";
import { PERMIT2, parseAddress, verifyWalletSignature } from "@sotto/protocol";
import { ServiceError } from "../errors.ts";
import type { PoolState } from "../ports.ts";
import type { Store } from "../store/index.ts";
import { isUsed, usedRead } from "./authorizations.ts";

/** How long a known root is cached, ms. Only a reorganization can make it unknown. */
const ROOT_MS = 60_000;
const MAX_ROOTS = 1_024;

export interface PoolStateParts {
  readonly chain: Chain;
  /** The pool's events up to the last block that the relayer read. No node that lacks this block can say "no". */
  readonly ledger: Pick<Store["ledger"], "lastBlock" | "hasRoot">;
  readonly pool: string;
  readonly token: string;
  /** Now, ms. */
  readonly clock: () => number;
}

/** @throws ServiceError CHAIN_UNAVAILABLE */
export function poolState({ chain, ledger, pool, token, clock }: PoolStateParts): PoolState {
  /** Known roots, with the time until which each is cached. */
  const roots = new Map<bigint, number>();
  const address = parseAddress(pool);
  const ofToken = (name: string, ...values: readonly unknown[]) => ({ abi: tokenInterface, to: token, name, values });
  const reached = async () => (await ledger.lastBlock())?.number;
  return {
    async isKnownRoot(root) {
      if ((roots.get(root) ?? 0) > clock()) return true;
      const known =
        (await ledger.hasRoot(String(root))) ||
        (await answered(
          readNewest(
            chain,
            (node, block) => poolViews(node, address).isKnownRoot(root, block),
            (known) => known,
            await reached(),
          ),
        ));
      if (!known) return false;
      if (roots.size >= MAX_ROOTS) roots.clear();
      roots.set(root, clock() + ROOT_MS);
      return true;
    },
    async isSpent(nullifier) {
      const last = await ledger.lastBlock();
      return answered(
        chain.useNode(async (node) => {
          // The ledger did not have the spend, so only blocks after its last one can. A node without that block cannot tell.
          const has = last === undefined ? undefined : node.assertHas(last);
          const [spent] = await Promise.all([poolViews(node, address).isSpent(nullifier), has]);
          return spent;
        }),
      );
    },
    tokensOf: async (account) => BigInt(await answered(readContract(chain, ofToken("balanceOf", account)))),
    async acceptsSignature(account, digest, signature) {
      const call = signatureCall(chain, await ledger.lastBlock());
      return answered(verifyWalletSignature(account, digest, signature, call));
    },
    async newestOf(authorization) {
      const { number } = await answered(chain.newest());
      const block = Math.max(number, (await reached()) ?? 0);
      const reads = [ofToken("balanceOf", authorization.from), usedRead(token, authorization)];
      const [tokens, used] = await answered(chain.reads<unknown>(reads, block));
      return { tokens: BigInt(tokens as bigint), isUsed: isUsed(authorization, used) };
    },
    async permit2Allows(owner, needed) {
      const read = async (node: ChainSource, block?: number) =>
        BigInt(await readContract<bigint>(node, ofToken("allowance", owner, PERMIT2), block)) >= needed;
      return answered(readNewest(chain, read, (isEnough) => isEnough, await reached()));
    },
    async permitNonceOf(owner) {
      try {
        return BigInt(await readContract<bigint>(chain, ofToken("nonces", owner)));
      } catch (cause) {
        if (isAnotherContract(cause)) return undefined;
        return answered(Promise.reject(cause));
      }
    },
  };
}

/** @throws ServiceError CHAIN_UNAVAILABLE */
async function answered<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (cause) {
    const why = "no node of the chain responds, or all of them are behind; try again";
    throw new ServiceError("CHAIN_UNAVAILABLE", why, {}, { cause });
  }
}
