import type { Append } from "@sotto/chain";
import type { StoreChange, StoreValue } from "../store/store.ts";
import { type FoundNote, type FoundSpend, mapShown } from "./notes.ts";

/**
 * The events of one range of blocks. A wallet's knowledge of the chain is a list of pages without gaps, each written
 * atomically. A crash leaves a shorter list and a reorganization removes pages from its end; the remaining list is
 * valid in both cases.
 */
export interface Page {
  /** First and last block, both included. */
  from: number;
  to: number;
  /** Hash of the last block. As long as that block is canonical, so is the whole page. */
  hash: string;
  /** Time of the last block, seconds; Infinity if the page is of an earlier version. */
  time: number;
  /** Commitments queued in these blocks, in order. */
  leaves: bigint[];
  /** Runs of leaves of one block: [block number, leaves]. */
  runs: [block: number, leaves: number][];
  appends: Append[];
  notes: FoundNote[];
  spends: FoundSpend[];
}

export function emptyPage(from: number, to: number, hash: string, time: number): Page {
  return { from, to, hash, time, leaves: [], runs: [], appends: [], notes: [], spends: [] };
}

/** The key sorts like the block number. */
export function pageKey(from: number): string {
  return `page/${String(from).padStart(12, "0")}`;
}

const WORD = 64;

export function encodePage(page: Page): StoreValue {
  return {
    from: page.from,
    to: page.to,
    hash: page.hash,
    time: Number.isFinite(page.time) ? page.time : null,
    // One string, because a store reads and writes it much faster than 100,000 strings.
    leaves: page.leaves.map((leaf) => leaf.toString(16).padStart(WORD, "0")).join(""),
    runs: page.runs,
    appends: page.appends.map((append) => ({ ...append, root: String(append.root) })),
    notes: page.notes.map(({ month, ...note }) => ({
      ...note,
      ...(month === undefined ? {} : { month }),
      amount: String(note.amount),
      blinding: String(note.blinding),
      commitment: String(note.commitment),
      nullifier: note.nullifier === undefined ? null : String(note.nullifier),
    })),
    spends: page.spends.map((spend) => ({
      ...spend,
      nullifier: String(spend.nullifier),
      shown: spend.shown === undefined ? null : mapShown(spend.shown, String),
    })),
  };
}

/** @returns undefined if `encodePage` did not write the value */
export function decodePage(key: string, value: StoreValue): Page | undefined {
  try {
    // `encodePage` wrote the value, so its types are not checked. Stores notice changed bytes; the checks below notice a
    // store that does not.
    const page = value as unknown as Omit<Page, "leaves"> & { leaves: string };
    const leaves = page.leaves.match(/.{64}/gs)?.map((word) => BigInt(`0x${word}`)) ?? [];
    const counted = page.runs.reduce((sum, [, count]) => sum + count, 0);
    if (leaves.length !== counted || page.leaves.length !== WORD * counted || pageKey(page.from) !== key)
      return undefined;
    return {
      from: page.from,
      to: page.to,
      hash: page.hash,
      time: page.time ?? Number.POSITIVE_INFINITY,
      leaves,
      runs: page.runs,
      appends: page.appends.map((append) => ({ ...append, root: BigInt(append.root) })),
      notes: page.notes.map((note) => ({
        ...note,
        amount: BigInt(note.amount),
        blinding: BigInt(note.blinding),
        commitment: BigInt(note.commitment),
        nullifier: note.nullifier === null || note.nullifier === undefined ? undefined : BigInt(note.nullifier),
      })),
      spends: page.spends.map((spend) => ({
        ...spend,
        nullifier: BigInt(spend.nullifier),
        shown: spend.shown ? mapShown(spend.shown, BigInt) : undefined,
      })),
    };
  } catch {
    return undefined;
  }
}

function joinPages(first: Page, second: Page): Page {
  return {
    from: first.from,
    to: second.to,
    hash: second.hash,
    time: second.time,
    leaves: [...first.leaves, ...second.leaves],
    runs: [...first.runs, ...second.runs],
    appends: [...first.appends, ...second.appends],
    notes: [...first.notes, ...second.notes],
    spends: [...first.spends, ...second.spends],
  };
}

const MAX_PAGE_LEAVES = 8192;
/**
 * Counts public events only. Page ends must not depend on the wallet's own notes, because nodes see them in requests.
 */
const weight = (page: Page): number => 1 + page.leaves.length;

/**
 * Joins neighbouring final pages of similar weight. A page is rewritten only if it grows by at least half, so it is
 * rewritten a logarithmic number of times.
 * @param final last final block; pages after it may be rolled back and stay small
 */
export function joinFinalPages(pages: readonly Page[], final: number): Page[] {
  const joined: Page[] = [];
  for (const page of pages) {
    let last = page;
    for (let before = joined.at(-1); before && last.to <= final && worthJoining(before, last); before = joined.at(-1)) {
      last = joinPages(before, last);
      joined.pop();
    }
    joined.push(last);
  }
  return joined;
}

function worthJoining(first: Page, second: Page): boolean {
  return weight(first) <= 2 * weight(second) && weight(first) + weight(second) <= MAX_PAGE_LEAVES;
}

export function joinChanges(pages: readonly Page[], joined: readonly Page[]): StoreChange[] {
  const kept = new Set(joined);
  const changes = new Map<string, StoreChange>();
  for (const { from } of pages) changes.set(pageKey(from), { delete: pageKey(from) });
  for (const page of joined) changes.set(pageKey(page.from), { put: pageKey(page.from), value: encodePage(page) });
  for (const page of pages) if (kept.has(page)) changes.delete(pageKey(page.from));
  return [...changes.values()];
}
