import type { Append } from "@sotto/chain";
import { WalletError } from "../errors.ts";
import type { StoreChange, StoreValue } from "../store/store.ts";
import { type FoundNote, type FoundSpend, mapShown } from "./notes.ts";

/**
 * What one range of blocks held. A wallet's whole knowledge of the chain is the list of its pages, without gaps, each
 * written at once: a crash leaves a shorter list, a reorganisation takes pages off its end, and either way the rest
 * stands by itself.
 */
export interface Page {
  /** First and last block, both included. */
  from: number;
  to: number;
  /** Hash of the last block: while it is canonical, the whole page is. */
  hash: string;
  /** Commitments queued in these blocks, in order. */
  leaves: bigint[];
  /** Runs of leaves of one block: [block number, leaves]. */
  runs: [block: number, leaves: number][];
  appends: Append[];
  notes: FoundNote[];
  spends: FoundSpend[];
}

export function emptyPage(from: number, to: number, hash: string): Page {
  return { from, to, hash, leaves: [], runs: [], appends: [], notes: [], spends: [] };
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
    // One string: a store keeps and reads 100,000 leaves a lot faster than as many strings.
    leaves: page.leaves.map((leaf) => leaf.toString(16).padStart(WORD, "0")).join(""),
    runs: page.runs,
    appends: page.appends.map((append) => ({ ...append, root: String(append.root) })),
    notes: page.notes.map((note) => ({
      ...note,
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

/** @throws WalletError STORE_DAMAGED for what `encodePage` did not write. */
export function decodePage(key: string, value: StoreValue): Page {
  try {
    // The shape is our own; what cannot be trusted after a fault of the disk is checked by what follows.
    const page = value as unknown as Omit<Page, "leaves"> & { leaves: string };
    const leaves = page.leaves.match(/.{64}/gs)?.map((word) => BigInt(`0x${word}`)) ?? [];
    const counted = page.runs.reduce((sum, [, count]) => sum + count, 0);
    if (leaves.length !== counted || page.leaves.length !== WORD * counted || pageKey(page.from) !== key)
      throw new Error("counts differ");
    return {
      from: page.from,
      to: page.to,
      hash: page.hash,
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
  } catch (cause) {
    throw new WalletError(
      "STORE_DAMAGED",
      `record ${key} is damaged: delete the store, the chain has it all`,
      {},
      { cause },
    );
  }
}

function joinPages(first: Page, second: Page): Page {
  return {
    from: first.from,
    to: second.to,
    hash: second.hash,
    leaves: [...first.leaves, ...second.leaves],
    runs: [...first.runs, ...second.runs],
    appends: [...first.appends, ...second.appends],
    notes: [...first.notes, ...second.notes],
    spends: [...first.spends, ...second.spends],
  };
}

const MAX_PAGE_LEAVES = 8192;
/** Of what is everybody's: where pages end must not depend on whose they are, for their ends are asked for. */
const weight = (page: Page): number => 1 + page.leaves.length;

/**
 * The pages with final neighbours joined where it is worth it. By weight, so that a page is written again only when it
 * grows by half at least: a logarithm of times.
 * @param final last block that counts as final; a page beyond it can still be taken back and stays small
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

/** What makes the stored pages into those they were joined to. */
export function joinChanges(pages: readonly Page[], joined: readonly Page[]): StoreChange[] {
  const kept = new Set(joined);
  const changes = new Map<string, StoreChange>();
  for (const { from } of pages) changes.set(pageKey(from), { delete: pageKey(from) });
  for (const page of joined) changes.set(pageKey(page.from), { put: pageKey(page.from), value: encodePage(page) });
  for (const page of pages) if (kept.has(page)) changes.delete(pageKey(page.from));
  return [...changes.values()];
}
