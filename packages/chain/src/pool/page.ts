import { type ChainSource, inconsistent } from "../source.ts";
import { decodeEvent, type PoolEvent, queuedLeaves } from "./events.ts";
import { withTimes } from "./times.ts";

/** The number of leaves ever queued, and how many of them are in the tree. */
export interface QueueCounts {
  /** 0 to 2^30; the index of the next leaf. */
  leaves: number;
  /** At most `leaves`. */
  appended: number;
}

/** A queued commitment. */
export interface QueuedLeaf {
  /** The commitment, 1 to p - 1. */
  leaf: bigint;
  /** The block that queued it. */
  blockNumber: number;
}

/** One append: the tree has `size` leaves and this root after it. */
export interface Append {
  /** The block with the Appended event. */
  blockNumber: number;
  /** 1 to 2^30. */
  size: number;
  /** A field element. */
  root: bigint;
}

/** The leaves and appends that a page's events add. */
export interface QueuePage {
  leaves: QueuedLeaf[];
  appends: Append[];
}

/**
 * Takes leaves and appends from events. They must continue the contract's counters without a gap, so that events that a node
 * omitted are detected.
 * @throws ChainError NODE_INCONSISTENT
 */
export function parseQueue(source: ChainSource, events: readonly PoolEvent[], start: QueueCounts): QueuePage {
  const missing = (what: string) => inconsistent(source, `omitted events of the pool: the next one is ${what}`);
  const page: QueuePage = { leaves: [], appends: [] };
  let { appended } = start;
  for (const event of events) {
    const { blockNumber } = event;
    const size = start.leaves + page.leaves.length;
    if (event.type === "appended") {
      const fits = event.startIndex === appended && event.startIndex + event.count <= size;
      if (!fits) throw missing(`an append of leaves from ${event.startIndex} in block ${blockNumber}`);
      appended += event.count;
      page.appends.push({ blockNumber, size: appended, root: event.newRoot });
      continue;
    }
    const leaves = queuedLeaves(event);
    if (leaves.length === 0) continue;
    if (event.leafIndex !== size) throw missing(`leaf ${event.leafIndex} in block ${blockNumber}, not ${size}`);
    // The tree does not accept 0. If the page were stored, every later scan would fail, because its block hash is canonical.
    if (leaves.includes(0n)) throw missing(`a leaf of 0 in block ${blockNumber}`);
    for (const leaf of leaves) page.leaves.push({ leaf, blockNumber });
  }
  return page;
}

/** The events of some blocks, and the hash of the last one. */
export interface EventRange {
  from: number;
  to: number;
  /** Of block `to`. */
  hash: string;
  /** Of block `to`, seconds; only if the events have the times of their blocks. */
  timestamp: number;
  events: PoolEvent[];
}

/**
 * The events of a range of blocks of one chain.
 * @param timed whether the events get the times of their blocks
 * @param previous the last block of the previous page
 * @returns undefined if the node's chain changed in between, or lacks the last block
 * @throws ChainError NODE_INCONSISTENT, and errors of the source
 */
export async function fetchRange(
  chain: ChainSource,
  pool: string,
  { from, to, timed }: { from: number; to: number; timed: boolean },
  previous: { number: number; hash: string } | undefined,
): Promise<EventRange | undefined> {
  const before = await chain.block(to);
  if (before === undefined) return undefined;
  const given = await chain.logs({ address: pool, from, to });
  // Pages are split between blocks, so the logs must be in order.
  const ordered = given.every(({ blockNumber }, i) => blockNumber >= (given[i - 1]?.blockNumber ?? from));
  if (!ordered || given.some(({ blockNumber }) => blockNumber > to))
    throw inconsistent(chain, `returned logs out of order, or not of blocks ${from} to ${to}`);
  const logs = timed ? await withTimes(chain, given, before) : given;
  const after = await chain.block(to);
  if (logs === undefined || after?.hash !== before.hash) return undefined;
  if (previous !== undefined && (await chain.block(previous.number))?.hash !== previous.hash) return undefined;
  if (logs.some((log) => log.blockNumber === to && log.blockHash !== before.hash)) return undefined;
  try {
    const events = logs.map(decodeEvent).filter((event) => event !== undefined);
    return { from, to, hash: before.hash, timestamp: before.timestamp, events };
  } catch (cause) {
    throw inconsistent(chain, `returned a malformed log: ${(cause as Error).message}`, cause);
  }
}

/** Minimum events of a page, if the range has more. A process that is killed loses at most about one page of work. */
const PAGE_EVENTS = 2048;

/** Splits a range into pages of a few thousand events. Each page ends with a whole block. */
export function splitRange({ from, to, hash, timestamp, events }: EventRange): EventRange[] {
  const parts: EventRange[] = [];
  let start = 0;
  for (let i = PAGE_EVENTS; i < events.length; i += 1) {
    const last = events[i - 1]!;
    if (i - start < PAGE_EVENTS || events[i]!.blockNumber === last.blockNumber) continue;
    const before = parts.at(-1)?.to ?? from - 1;
    const end = { to: last.blockNumber, hash: last.blockHash, timestamp: last.timestamp };
    parts.push({ from: before + 1, ...end, events: events.slice(start, i) });
    start = i;
  }
  parts.push({ from: (parts.at(-1)?.to ?? from - 1) + 1, to, hash, timestamp, events: events.slice(start) });
  return parts;
}
