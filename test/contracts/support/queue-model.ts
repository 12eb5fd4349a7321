import { foldQueue } from "@sotto/protocol";

/** A checkpoint in the form that the contract takes. */
export interface Checkpoint {
  readonly sequence: bigint;
  readonly chain: string;
  readonly count: bigint;
  readonly timestamp: bigint;
}

const NO_CHECKPOINT: Checkpoint = { sequence: 0n, chain: `0x${"00".repeat(32)}`, count: 0n, timestamp: 0n };

const CHECKPOINT_LEAVES = 64;
const GRACE_SECONDS = 120;

interface QueuedLeaf {
  readonly leaf: bigint;
  readonly block: number;
  readonly timestamp: number;
}

/** Consecutive pending leaves, with their checkpoint. */
export interface Group {
  readonly leaves: readonly bigint[];
  readonly end: Checkpoint;
}

export interface AppendCall {
  readonly startIndex: number;
  readonly leaves: readonly bigint[];
  readonly end: Checkpoint;
  readonly next: Checkpoint;
}

/**
 * The queue as the interface describes it to an appender, without the contract's bookkeeping: the pending leaves are a
 * list, and the block numbers alone determine its checkpoints. The contract must agree with it.
 */
export class QueueModel {
  readonly ringSize: number;
  #pending: QueuedLeaf[] = [];
  #appended = 0;
  #appendedChain: string = NO_CHECKPOINT.chain;
  #firstPending = 0n;

  constructor(ringSize = 4096) {
    this.ringSize = ringSize;
  }

  get appended(): number {
    return this.#appended;
  }

  get size(): number {
    return this.#appended + this.#pending.length;
  }

  get firstPending(): bigint {
    return this.#firstPending;
  }

  get appendedChain(): string {
    return this.#appendedChain;
  }

  /** Pending checkpoints in order. A new checkpoint begins if the block changes or if the last one has 64 leaves. */
  groups(pending: readonly QueuedLeaf[] = this.#pending): Group[] {
    const runs: QueuedLeaf[][] = [];
    for (const entry of pending) {
      const run = runs.at(-1);
      if (run === undefined || run.length === CHECKPOINT_LEAVES || run[0]!.block !== entry.block) runs.push([entry]);
      else run.push(entry);
    }
    let chain = this.#appendedChain;
    let count = this.#appended;
    return runs.map((run, i) => {
      for (const { leaf } of run) chain = foldQueue(chain, leaf);
      count += run.length;
      const timestamp = BigInt(run[0]!.timestamp);
      const end = { sequence: this.#firstPending + BigInt(i), chain, count: BigInt(count), timestamp };
      return { leaves: run.map(({ leaf }) => leaf), end };
    });
  }

  /** Whether this many leaves fit in this block: closed checkpoints must fit in the ring, and one more may be open. */
  accepts(leaves: number, block: number): boolean {
    const added = Array.from({ length: leaves }, () => ({ leaf: 1n, block, timestamp: 0 }));
    return this.groups([...this.#pending, ...added]).length <= this.ringSize + 1;
  }

  push(leaves: readonly bigint[], block: number, timestamp: number): void {
    for (const leaf of leaves) this.#pending.push({ leaf, block, timestamp });
  }

  /** The append of the first `count` checkpoints. */
  appendCall(count: number): AppendCall {
    const groups = this.groups();
    const taken = groups.slice(0, count);
    const end = taken.at(-1)?.end;
    if (end === undefined || count > groups.length)
      throw new Error(`cannot append ${count} checkpoints: ${groups.length} are pending`);
    const leaves = taken.flatMap((group) => group.leaves);
    return { startIndex: this.#appended, leaves, end, next: groups[count]?.end ?? NO_CHECKPOINT };
  }

  /** Maximum number of checkpoints in one append. */
  longest(): number {
    const limit = BigInt(this.#appended + CHECKPOINT_LEAVES);
    return this.groups().filter(({ end }) => end.count <= limit).length;
  }

  /** Minimum number of checkpoints in an append at this time: those older than 120 s, as far as 64 leaves allow. */
  shortest(now: number): number {
    const old = this.groups().filter(({ end }) => BigInt(now) - end.timestamp > BigInt(GRACE_SECONDS)).length;
    return Math.max(1, Math.min(this.longest(), old));
  }

  /** Moves the first `count` checkpoints into the tree. */
  consume(count: number): readonly bigint[] {
    const { leaves, end } = this.appendCall(count);
    this.#pending = this.#pending.slice(leaves.length);
    this.#appended += leaves.length;
    this.#appendedChain = end.chain;
    this.#firstPending += BigInt(count);
    return leaves;
  }
}
