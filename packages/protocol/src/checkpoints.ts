import { APPEND_LEAVES, foldQueue } from "./append.ts";
import type { Bytes32 } from "./contexts.ts";
import { fail } from "./errors.ts";
import { TREE_CAPACITY } from "./generated/circuits.ts";
import { assertInteger, assertObject } from "./validate.ts";

/** A place in the queue where an append may end: `INoteTree.Checkpoint`, decimal numbers. */
export interface CheckpointWords {
  sequence: string;
  chain: Bytes32;
  count: string;
  timestamp: string;
}

/** A queued commitment and the block that queued it. */
export interface QueuedLeaf {
  leaf: bigint;
  blockNumber: number;
}

/** A pending checkpoint: a place where an append may end. */
export interface Checkpoint {
  sequence: number;
  /** Value of the keccak chain after its last leaf. */
  chain: string;
  /** Leaves queued up to and including its last one, since the pool exists. */
  count: number;
  blockNumber: number;
}

/** Where the queue begins: `INoteTree.QueueState`, as far as it matters here. */
export interface QueueStart {
  appended: number;
  appendedChain: string;
  firstPending: number;
}

function assertStart(start: QueueStart): void {
  assertObject(start, "the start of the queue");
  assertInteger(start.appended, 0, TREE_CAPACITY, "appended");
  assertInteger(start.firstPending, 0, TREE_CAPACITY, "firstPending");
}

function assertList(list: unknown, name: string): void {
  if (!Array.isArray(list)) fail("INVALID_ARGUMENT", `${name} must be an array`);
  for (const each of list) assertObject(each, `one of ${name}`);
}

/**
 * The pending checkpoints, found as the contract makes them: a new one where the block changes and where one holds 64
 * leaves, counted from where the last append ended.
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
    if (open === undefined || open.blockNumber !== blockNumber || held === APPEND_LEAVES) {
      checkpoints.push({ sequence: start.firstPending + checkpoints.length, chain, count, blockNumber });
      held = 1;
    } else {
      Object.assign(open, { chain, count });
      held += 1;
    }
  }
  return checkpoints;
}

/** The farthest checkpoint an append of at most 64 leaves reaches, and the one behind it. */
export function appendEnd(start: QueueStart, checkpoints: readonly Checkpoint[]) {
  assertStart(start);
  assertList(checkpoints, "the checkpoints");
  const end = checkpoints.findLast(({ count }) => count - start.appended <= APPEND_LEAVES);
  const next = end && checkpoints.find(({ sequence }) => sequence === end.sequence + 1);
  return { end, next };
}

/** A checkpoint as the contract takes it; zeros where there is none. @param timestamp of its block, seconds */
export function checkpointWords(checkpoint: Checkpoint | undefined, timestamp: number): CheckpointWords {
  if (checkpoint === undefined) return { sequence: "0", chain: `0x${"0".repeat(64)}`, count: "0", timestamp: "0" };
  assertObject(checkpoint, "a checkpoint");
  assertInteger(timestamp, 0, Number.MAX_SAFE_INTEGER, "timestamp");
  const { sequence, chain, count } = checkpoint;
  return { sequence: String(sequence), chain, count: String(count), timestamp: String(timestamp) };
}
