import { describe, fail } from "./errors.ts";
import { MAX_APPEND_LEAVES, TREE_CAPACITY } from "./generated/circuits.ts";
import { assertField, assertInteger, assertObject } from "./validate.ts";

/**
 * Maximum number of leaves in a checkpoint, half of an append: if the next checkpoint does not fit, an append has more than
 * this many leaves.
 */
export const CHECKPOINT_LEAVES = MAX_APPEND_LEAVES / 2;

/** A queued commitment and the block that queued it. */
export interface QueuedLeaf {
  /** The commitment, 1 to p - 1. */
  leaf: bigint;
  /** The block that queued it. Leaves of different blocks are in different checkpoints. */
  blockNumber: number;
}

/** A pending checkpoint: a position in the queue at which an append may end. */
export interface Checkpoint {
  /** Number of the checkpoint, counted from 1 since the pool was deployed. */
  sequence: number;
  /** Number of leaves queued since the pool was deployed, up to and including the checkpoint's last one. */
  count: number;
  /** The block that queued all of its leaves. */
  blockNumber: number;
}

/** The start of the queue: the fields of `INoteTree.QueueState` that this module needs. */
export interface QueueStart {
  /** Number of leaves in the tree, 0 to 2^30: the index of the first queued leaf. */
  appended: number;
  /** Sequence of the checkpoint at which the tree ends, 0 to 2^30; 0 if the tree is empty. */
  lastAppended: number;
}

function assertStart(start: QueueStart): void {
  assertObject(start, "the start of the queue");
  assertInteger(start.appended, 0, TREE_CAPACITY, "appended");
  assertInteger(start.lastAppended, 0, TREE_CAPACITY, "lastAppended");
}

function assertList(list: unknown, name: string): void {
  if (!Array.isArray(list)) fail("INVALID_ARGUMENT", `${name} must be an array, got ${describe(list)}`);
  for (const each of list) assertObject(each, `one of ${name}`);
}

/**
 * Computes the pending checkpoints exactly as the contract does. The first checkpoint starts at the end of the last
 * append; a new one starts when the block changes or the current one has 32 leaves.
 * @throws SottoError INVALID_ARGUMENT, INVALID_INTEGER, INVALID_FIELD_ELEMENT
 */
export function pendingCheckpoints(start: QueueStart, queue: readonly QueuedLeaf[]): Checkpoint[] {
  assertStart(start);
  assertList(queue, "the queued leaves");
  const checkpoints: Checkpoint[] = [];
  let held = 0;
  for (const [i, { leaf, blockNumber }] of queue.entries()) {
    assertField(leaf, "leaf");
    const count = start.appended + i + 1;
    const newest = checkpoints.at(-1);
    if (newest === undefined || newest.blockNumber !== blockNumber || held === CHECKPOINT_LEAVES) {
      checkpoints.push({ sequence: start.lastAppended + checkpoints.length + 1, count, blockNumber });
      held = 1;
    } else {
      newest.count = count;
      held += 1;
    }
  }
  return checkpoints;
}

/** The last checkpoint that an append of at most 64 leaves can reach; undefined if none is pending. */
export function appendEnd(start: QueueStart, checkpoints: readonly Checkpoint[]): Checkpoint | undefined {
  assertStart(start);
  assertList(checkpoints, "the checkpoints");
  return checkpoints.findLast(({ count }) => count - start.appended <= MAX_APPEND_LEAVES);
}
