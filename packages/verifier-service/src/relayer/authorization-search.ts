import type { ChainNode, Log, Receipt } from "@sotto/chain";
import { tokenInterface } from "@sotto/chain/ethers";
import type { AuthorizationId } from "../pool/authorizations.ts";
import type { Operation } from "../store/index.ts";
import { authorizationOf } from "./calldata.ts";
import { areUsed, atHead, receiptsOf } from "./chain-reads.ts";
import type { RelayerContext, Round } from "./context.ts";

/** Block ranges searched per call. */
const RANGES_AT_ONCE = 4;
/** Maximum number of searches to keep progress for. */
const MAX_SEARCHES = 1_000;

interface Progress {
  /** The newest block that was not searched; undefined at the start. */
  next: number | undefined;
  /**
   * Whether earlier blocks can contain the authorization: blocks before the pool and blocks that are too old cannot.
   */
  hasMore: boolean;
  txHash?: string | undefined;
}

/**
 * Searches for the transactions that used or cancelled authorizations, backwards from the newest block. One call searches a
 * few ranges, and the next call resumes.
 */
export class AuthorizationSearch {
  readonly #context: RelayerContext;
  readonly #searches = new Map<string, Progress>();

  constructor(context: RelayerContext) {
    this.#context = context;
  }

  /**
   * @param operations deposits whose authorizations were used by transactions other than the relayer's
   * @returns by id: the receipt of the transaction, or "unknown" if it is older than the search goes; no entry while the search
   * continues
   */
  async find(operations: readonly Operation[], round: Round): Promise<Map<string, Receipt | "unknown">> {
    const results = new Map<string, Receipt | "unknown">();
    const hashes = new Map<string, string>();
    let left = RANGES_AT_ONCE;
    for (const operation of await this.#startable(operations, round)) {
      const { id } = operation;
      const progress = this.#progressOf(id);
      while (progress.txHash === undefined && left > 0 && progress.hasMore) {
        await this.#lookThrough(operation, progress, round);
        left -= 1;
      }
      if (progress.txHash !== undefined) hashes.set(id, progress.txHash);
      else if (!progress.hasMore) {
        results.set(id, "unknown");
        this.#searches.delete(id);
      }
    }
    const receipts = await receiptsOf(this.#context.chain, [...hashes.values()], round);
    for (const [id, hash] of hashes) {
      const receipt = receipts.get(hash);
      if (receipt !== undefined) results.set(id, receipt);
      // A reorganization removed the transaction, so the search starts again.
      else this.#searches.delete(id);
    }
    return results;
  }

  /**
   * Those whose search is under way, or can start: it starts at the round's block, so the authorization must have been used by
   * then. A node can have newer blocks.
   */
  async #startable(operations: readonly Operation[], round: Round): Promise<Operation[]> {
    // A search that waits its turn has searched no block yet.
    const fresh = operations.filter(({ id }) => this.#searches.get(id)?.next === undefined);
    const used = await areUsed(this.#context, fresh, round, round.head.number);
    const early = new Set(fresh.filter((_, index) => !used[index]));
    return operations.filter((operation) => !early.has(operation));
  }

  #progressOf(id: string): Progress {
    const progress = this.#searches.get(id) ?? { next: undefined, hasMore: true };
    this.#searches.set(id, progress);
    const [oldest] = this.#searches.keys();
    if (this.#searches.size > MAX_SEARCHES && oldest !== undefined) this.#searches.delete(oldest);
    return progress;
  }

  async #lookThrough(operation: Operation, progress: Progress, round: Round): Promise<void> {
    const { chain, pool, config } = this.#context;
    const last = progress.next ?? round.head.number;
    const first = Math.max(pool.deploymentBlock, last - config.rangeSize + 1);
    const logs = await atHead(chain, round, (node) => useLogs(node, pool, authorizationOf(operation), first, last));
    const log = logs.at(-1);
    if (log !== undefined) progress.txHash = log.transactionHash;
    progress.next = first - 1;
    // Limited by time: the same number of blocks takes four hours on one chain and a day on another.
    const time = (await chain.block(first))?.timestamp ?? round.head.timestamp;
    progress.hasMore = first > pool.deploymentBlock && time >= round.head.timestamp - config.maxAuthorizationAge;
  }
}

/**
 * The logs of the transaction that used or cancelled an authorization. Permit2 has no event of a use, so the pool has one. A
 * cancellation there is not searched: a nonce can be cancelled after its use too, and would hide it.
 */
async function useLogs(
  node: ChainNode,
  { pool, token }: RelayerContext["pool"],
  { from, nonce, permit2 }: AuthorizationId,
  first: number,
  last: number,
): Promise<Log[]> {
  const find = (address: string, name: string) => {
    const topics = tokenInterface.encodeFilterTopics(name, [from, nonce]) as string[];
    return node.logs({ address, from: first, to: last, topics });
  };
  if (permit2 !== undefined) return find(pool, "AuthorizationUsed");
  const logs = await Promise.all(["AuthorizationUsed", "AuthorizationCanceled"].map((name) => find(token, name)));
  return logs.flat();
}
