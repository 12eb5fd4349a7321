import type { Receipt } from "@sotto/chain";
import type { DepositCall } from "@sotto/protocol";
import type { Operation } from "../store/index.ts";
import { authorizationNonceOf, tokenInterface } from "./calldata.ts";
import type { RelayerContext, Round } from "./context.ts";
import { receiptsOf } from "./questions.ts";

/** Ranges of blocks looked through in one call. */
const RANGES_AT_ONCE = 4;
/** Searches that are remembered. */
const MAX_SEARCHES = 1_000;

/** How far a search has come. */
interface Progress {
  /** Newest block that was not looked through, undefined before the first. */
  next: number | undefined;
  /** Whether the blocks before are of the pool's time and young enough for the authorization. */
  hasMore: boolean;
  txHash?: string | undefined;
}

/**
 * Looks for the transactions in which authorizations were used or cancelled, from the newest block back. They may be far
 * back, so a call looks through a few ranges and the next one resumes.
 */
export class AuthorizationSearch {
  readonly #context: RelayerContext;
  readonly #searches = new Map<string, Progress>();

  constructor(context: RelayerContext) {
    this.#context = context;
  }

  /**
   * @param operations deposits whose authorizations were used by other transactions than ours
   * @returns by id the receipt of the transaction, or "unknown" if it is too far back; none while the search goes on
   */
  async find(operations: readonly Operation[], round: Round): Promise<Map<string, Receipt | "unknown">> {
    const results = new Map<string, Receipt | "unknown">();
    const hashes = new Map<string, string>();
    let left = RANGES_AT_ONCE;
    for (const operation of operations) {
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
    const receipts = await receiptsOf(this.#context.chain, [...hashes.values()]);
    for (const [id, hash] of hashes) {
      const receipt = receipts.get(hash);
      if (receipt !== undefined) results.set(id, receipt);
      // A reorganisation took it: the search begins anew.
      else this.#searches.delete(id);
    }
    return results;
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
    const { from } = operation.call as DepositCall;
    const last = progress.next ?? round.head.number;
    const first = Math.max(pool.deploymentBlock, last - config.rangeSize + 1);
    const topics = (name: string) =>
      tokenInterface.encodeFilterTopics(name, [from, authorizationNonceOf(operation)]) as string[];
    const logs = await Promise.all(
      ["AuthorizationUsed", "AuthorizationCanceled"].map((name) =>
        chain.useNode((view) => view.logs(pool.token, first, last, topics(name))),
      ),
    );
    const log = logs.flat().at(-1);
    if (log !== undefined) progress.txHash = log.transactionHash;
    progress.next = first - 1;
    // By time: a count of blocks would be four hours on one chain and a day on another.
    const time = (await chain.block(first))?.timestamp ?? round.head.timestamp;
    progress.hasMore = first > pool.deploymentBlock && time >= round.head.timestamp - config.maxAuthorizationAge;
  }
}
