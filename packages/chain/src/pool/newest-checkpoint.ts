import { CHECKPOINT_LEAVES } from "@sotto/protocol";
import type { Block } from "../rpc/values.ts";
import type { ChainSource } from "../source.ts";
import type { QueueState } from "./views.ts";

/**
 * Milliseconds after which no chain mines another block with the same time. Such blocks are of one second; the rest is for
 * clocks and nodes that are late.
 */
const SECOND_HAS_PASSED_MS = 5_000;

/**
 * Tells whether the newest checkpoint of a queue is final. Several blocks may have the same time, and each of them can add
 * leaves to it, which would make the proof of an append that ends there stale.
 */
export class NewestCheckpoint {
  readonly #monotonic: () => number;
  /** The newest time of a queue, and when it was first seen. */
  #seen: { readonly time: number; readonly since: number } | undefined;

  /** @param monotonic measures durations, ms; by default with `performance.now` */
  constructor(monotonic: () => number = () => performance.now()) {
    this.#monotonic = monotonic;
  }

  /**
   * Whether no block after `block` can add leaves to the newest checkpoint of `queue`, the contract's queue in that block.
   * A wrong answer of the node costs at most an append that reverts.
   */
  async isFinal(chain: Pick<ChainSource, "pending">, block: Block, queue: QueueState): Promise<boolean> {
    const { newestLeaves, newestTime } = queue;
    if (newestLeaves === 0 || newestLeaves === CHECKPOINT_LEAVES || block.timestamp > newestTime) return true;
    if (this.#seen?.time !== newestTime) this.#seen = { time: newestTime, since: this.#monotonic() };
    const pending = await chain.pending?.();
    if (pending !== undefined && pending.timestamp > newestTime) return true;
    // Some nodes report no pending block, or the newest one. If the chain then mines no block, only waiting helps.
    return this.#monotonic() - this.#seen.since >= SECOND_HAS_PASSED_MS;
  }
}
