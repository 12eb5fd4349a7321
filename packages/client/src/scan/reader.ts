import { ChainError, type ChainSource, decodeEvent, type PoolEvent, queuedLeaves, withTimes } from "@sotto/chain";
import { emptyPage, type Page } from "./page.ts";
import type { NoteScanner } from "./scanner.ts";

/** Where a page starts: how many leaves were queued and appended before it. */
export interface PageStart {
  leaves: number;
  appended: number;
}

/** Makes a page of a range. @throws ChainError NODE_INCONSISTENT where events are missing */
export async function readPage(
  { from, to, hash, events }: Range,
  start: PageStart,
  scanner?: NoteScanner,
): Promise<Page> {
  const page = emptyPage(from, to, hash);
  let appended = start.appended;
  for (const event of events) {
    const size = start.leaves + page.leaves.length;
    if (event.type === "appended") {
      const fits = event.startIndex === appended && event.startIndex + event.count <= size;
      if (!fits) throw missing(`an append of leaves from ${event.startIndex} in block ${event.blockNumber}`);
      appended += event.count;
      page.appends.push({ blockNumber: event.blockNumber, size: appended, root: event.newRoot });
      continue;
    }
    const leaves = queuedLeaves(event);
    if (leaves.length === 0) continue;
    if (event.leafIndex !== size) throw missing(`leaf ${event.leafIndex} in block ${event.blockNumber}, not ${size}`);
    // No tree takes it, and with a right hash of its block the page would stay.
    if (leaves.includes(0n)) throw missing(`a leaf of 0 in block ${event.blockNumber}`);
    page.leaves.push(...leaves);
    const run = page.runs.at(-1);
    if (run?.[0] === event.blockNumber) run[1] += leaves.length;
    else page.runs.push([event.blockNumber, leaves.length]);
  }
  for (let i = 0; scanner !== undefined && i < events.length; i += BREATH) {
    // Between batches other work gets its turn: a page in a browser must not freeze.
    if (i > 0) await new Promise((resolve) => setTimeout(resolve));
    const { notes, spends } = scanner.scan(events.slice(i, i + BREATH));
    page.notes.push(...notes);
    page.spends.push(...spends);
  }
  return page;
}

/** Events read without a pause: some tens of milliseconds. */
const BREATH = 256;

function missing(what: string): ChainError {
  return new ChainError("NODE_INCONSISTENT", `the node left out events of the pool: the next one is ${what}`);
}

/** The events of some blocks and the hash of the last one. */
export interface Range {
  from: number;
  to: number;
  hash: string;
  events: PoolEvent[];
}

/**
 * The events of a range, from one and the same chain: undefined where the node changed its mind in between.
 * @param timed whether the events are to have the times of their blocks
 * @param previous the last block of the page before
 */
export async function fetchRange(
  chain: ChainSource,
  pool: string,
  { from, to, timed }: { from: number; to: number; timed: boolean },
  previous: { to: number; hash: string } | undefined,
): Promise<Range | undefined> {
  const before = await chain.block(to);
  if (before === undefined) return undefined;
  const given = await chain.logs({ address: pool, from, to });
  // Pages end where their events do.
  const ordered = given.every(({ blockNumber }, i) => blockNumber >= (given[i - 1]?.blockNumber ?? from));
  if (!ordered || given.some(({ blockNumber }) => blockNumber > to))
    throw new ChainError("NODE_INCONSISTENT", `the node gave logs out of order, or not of blocks ${from} to ${to}`);
  const logs = timed ? await withTimes(chain, given, before) : given;
  const after = await chain.block(to);
  if (logs === undefined || after?.hash !== before.hash) return undefined;
  if (previous !== undefined && (await chain.block(previous.to))?.hash !== previous.hash) return undefined;
  if (logs.some((log) => log.blockNumber === to && log.blockHash !== before.hash)) return undefined;
  const events = logs.map(decodeEvent).filter((event) => event !== undefined);
  return { from, to, hash: before.hash, events };
}

/** Events of a page at least, where a range has many more: so much is lost at most when the process dies. */
const PAGE_EVENTS = 2048;

/** The range in parts of some thousand events, each ending with a block. */
export function splitRange({ from, to, hash, events }: Range): Range[] {
  const parts: Range[] = [];
  let start = 0;
  for (let i = PAGE_EVENTS; i < events.length; i += 1) {
    const last = events[i - 1]!;
    if (i - start < PAGE_EVENTS || events[i]!.blockNumber === last.blockNumber) continue;
    const before = parts.at(-1)?.to ?? from - 1;
    parts.push({ from: before + 1, to: last.blockNumber, hash: last.blockHash, events: events.slice(start, i) });
    start = i;
  }
  parts.push({ from: (parts.at(-1)?.to ?? from - 1) + 1, to, hash, events: events.slice(start) });
  return parts;
}
