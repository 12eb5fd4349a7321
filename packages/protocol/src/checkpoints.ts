import { foldQueue } from "./append.ts";
import type { Bytes32 } from "./contexts.ts";
import { describe, fail } from "./errors.ts";
import { MAX_APPEND_LEAVES, TREE_CAPACITY } from "./generated/circuits.ts";
import { assertInteger, assertObject } from "./validate.ts";

/** A {@link Checkpoint} in the form of the contract's `INoteTree.Checkpoint`; numbers are decimal strings. */
export interface CheckpointWords {
  /** Number of the checkpoint, from 0. */
  sequence: string;
  /** Value of the keccak chain after the checkpoint's last leaf. */
  chain: Bytes32;
  /** Number of leaves queued since the pool was deployed, up to and including the checkpoint's last one. */
  count: string;
  /** Time of the block that queued its leaves, Unix seconds. */
  timestamp: string;
}

/** A queued commitment and the block that queued it. */
export interface QueuedLeaf {
  /** The commitment, 1 to p - 1. */
  leaf: bigint;
  /** The block that queued it. Leaves of different blocks are in different checkpoints. */
  blockNumber: number;
}

/** A pending checkpoint: a position in the queue at which an append may end. */
export interface Checkpoint {
  /** Number of the checkpoint, counted from 0 since the pool was deployed. */
  sequence: number;
  /** Value of the keccak chain after the checkpoint's last leaf. */
  chain: string;
  /** Number of leaves queued since the pool was deployed, up to and including the checkpoint's last one. */
  count: number;
  /** The block that queued all of its leaves. */
  blockNumber: number;
}

/** The start of the queue: the fields of `INoteTree.QueueState` that this module needs. */
export interface QueueStart {
  /** Number of leaves in the tree, 0 to 2^30: the index of the first queued leaf. */
  appended: number;
  /** Value of the keccak chain after these leaves, 32 bytes, hex with 0x. */
  appendedChain: string;
  /** Sequence of the first checkpoint that is not in the tree. */
  firstPending: number;
}

function assertStart(start: QueueStart): void {
  assertObject(start, "the start of the queue");
  assertInteger(start.appended, 0, TREE_CAPACITY, "appended");
  assertInteger(start.firstPending, 0, TREE_CAPACITY, "firstPending");
}

function assertList(list: unknown, name: string): void {
  if (!Array.isArray(list)) fail("INVALID_ARGUMENT", `${name} must be an array, got ${describe(list)}`);
  for (const each of list) assertObject(each, `one of ${name}`);
}

/**
 * Computes the pending checkpoints exactly as the contract does. The first checkpoint starts at the end of the last
 * append; a new one starts when the block changes or the current one has 64 leaves.
 *
 * @throws SottoError INVALID_ARGUMENT, INVALID_INTEGER, INVALID_HEX, INVALID_FIELD_ELEMENT
 */
export function pendingCheckpoints(start: QueueStart, queue: readonly QueuedLeaf[]): Checkpoint[] {
  assertStart(start);
  assertList(queue, "the queued leaves");
  const checkpoints: Checkpoint[] = [];
  let chain = start.appendedChain;
  let held = 0;
  for (const [i, { leaf, blockNumber }] of queue.entries()) {
    chain = foldQueue(chain, leaf);
    const count = start.appended + i + 1;
    const open = checkpoints.at(-1);
    if (open === undefined || open.blockNumber !== blockNumber || held === MAX_APPEND_LEAVES) {
      checkpoints.push({ sequence: start.firstPending + checkpoints.length, chain, count, blockNumber });
      held = 1;
    } else {
      Object.assign(open, { chain, count });
      held += 1;
    }
  }
  return checkpoints;
}

/** The last checkpoint that an append of at most 64 leaves can reach, and the checkpoint after it. */
export function appendEnd(start: QueueStart, checkpoints: readonly Checkpoint[]) {
  assertStart(start);
  assertList(checkpoints, "the checkpoints");
  const end = checkpoints.findLast(({ count }) => count - start.appended <= MAX_APPEND_LEAVES);
  const next = end && checkpoints.find(({ sequence }) => sequence === end.sequence + 1);
  return { end, next };
}

/**
 * A checkpoint as a contract argument; all zeros if there is none.
 *
 * @param timestamp of the checkpoint's block, seconds
 */
export function checkpointWords(checkpoint: Checkpoint | undefined, timestamp: number): CheckpointWords {
  if (checkpoint === undefined) return { sequence: "0", chain: `0x${"0".repeat(64)}`, count: "0", timestamp: "0" };
  assertObject(checkpoint, "a checkpoint");
  assertInteger(timestamp, 0, Number.MAX_SAFE_INTEGER, "timestamp");
  const { sequence, chain, count } = checkpoint;
  return { sequence: String(sequence), chain, count: String(count), timestamp: String(timestamp) };
}
