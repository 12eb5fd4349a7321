import { foldQueue } from "@sotto/protocol";

/** Maximum number of leaves in a checkpoint. */
const CHECKPOINT_LEAVES = 32;
/** Maximum number of leaves in an append. */
const APPEND_LEAVES = 64;

interface QueuedLeaf {
  readonly leaf: bigint;
  /** Time of the block that queued it, seconds. */
  readonly time: number;
}

/** A pending checkpoint. */
export interface Checkpoint {
  readonly leaves: readonly bigint[];
  /** Time of their blocks, seconds. */
  readonly time: number;
  readonly sequence: bigint;
  /** The keccak chain after its last leaf. */
  readonly chain: string;
  /** Number of leaves queued since deployment, up to and including its last one. */
  readonly count: number;
}

export interface AppendCall {
  readonly startIndex: number;
  readonly leaves: readonly bigint[];
  readonly sequence: bigint;
}

/**
 * The queue as the interface describes it to an appender, without the contract's bookkeeping: the pending leaves are a
 * list, and the times of their blocks alone determine its checkpoints. The contract must agree with it.
 */
export class QueueModel {
  readonly ringSize: number;
  #pending: QueuedLeaf[] = [];
  #appended = 0;
  #appendedChain = `0x${"00".repeat(32)}`;
  #lastAppended = 0n;
  #due = 0;

  constructor(ringSize = 4096) {
    this.ringSize = ringSize;
  }

  get appended(): number {
    return this.#appended;
  }

  get size(): number {
    return this.#appended + this.#pending.length;
  }

  /** Number of leaves ever queued at the time of the last append. */
  get due(): number {
    return this.#due;
  }

  get lastAppended(): bigint {
    return this.#lastAppended;
  }

  get appendedChain(): string {
    return this.#appendedChain;
  }

  /** The keccak chain after all leaves. */
  get chain(): string {
    return this.checkpoints().at(-1)?.chain ?? this.#appendedChain;
  }

  /** Pending checkpoints in order. A new checkpoint begins if the time changes or if the last one has 32 leaves. */
  checkpoints(pending: readonly QueuedLeaf[] = this.#pending): Checkpoint[] {
    const runs: QueuedLeaf[][] = [];
    for (const entry of pending) {
      const run = runs.at(-1);
      if (run === undefined || run.length === CHECKPOINT_LEAVES || run[0]!.time !== entry.time) runs.push([entry]);
      else run.push(entry);
    }
    let chain = this.#appendedChain;
    let count = this.#appended;
    return runs.map((run, i) => {
      for (const { leaf } of run) chain = foldQueue(chain, leaf);
      count += run.length;
      const leaves = run.map(({ leaf }) => leaf);
      return { leaves, time: run[0]!.time, sequence: this.#lastAppended + BigInt(i + 1), chain, count };
    });
  }

  /** Whether this many leaves fit at this time: all but one slot of the ring may have pending checkpoints. */
  accepts(leaves: number, time: number): boolean {
    const added = Array.from({ length: leaves }, () => ({ leaf: 1n, time }));
    return this.checkpoints([...this.#pending, ...added]).length < this.ringSize;
  }

  push(leaves: readonly bigint[], time: number): void {
    for (const leaf of leaves) this.#pending.push({ leaf, time });
  }

  /** The append of the first `count` checkpoints. */
  appendCall(count: number): AppendCall {
    const taken = this.checkpoints().slice(0, count);
    const end = taken.at(-1);
    if (end === undefined || taken.length !== count)
      throw new Error(`cannot append ${count} checkpoints: ${taken.length} are pending`);
    return { startIndex: this.#appended, leaves: taken.flatMap(({ leaves }) => leaves), sequence: end.sequence };
  }

  /** Maximum number of checkpoints in one append. */
  longest(): number {
    return this.checkpoints().filter(({ count }) => count <= this.#appended + APPEND_LEAVES).length;
  }

  /**
   * Minimum number of checkpoints in an append: all leaves that were queued when the last append landed, or more than 32.
   */
  shortest(): number {
    const enough = Math.min(this.#due, this.#appended + CHECKPOINT_LEAVES + 1);
    return this.checkpoints().findIndex(({ count }) => count >= enough) + 1;
  }

  /** Moves the first `count` checkpoints into the tree. */
  consume(count: number): readonly bigint[] {
    const end = this.checkpoints()[count - 1]!;
    const { leaves } = this.appendCall(count);
    this.#due = this.size;
    this.#pending = this.#pending.slice(leaves.length);
    this.#appended += leaves.length;
    this.#appendedChain = end.chain;
    this.#lastAppended = end.sequence;
    return leaves;
  }
}
