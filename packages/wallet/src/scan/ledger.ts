import type { Append } from "@sotto/chain";
import type { FoundNote, FoundSpend } from "./notes.ts";
import type { Page } from "./page.ts";

/** The contents of a list of pages, indexed in memory. */
export class Ledger {
  readonly pages: Page[] = [];
  /** All commitments in order of their leaf index. */
  readonly leaves: bigint[] = [];
  readonly appends: Append[] = [];
  /** The wallet's notes by leaf index, including spent ones. */
  readonly notes = new Map<number, FoundNote>();
  /** The spends of those notes, by leaf index. */
  readonly spends = new Map<number, FoundSpend>();
  #untouched = 0;

  get last(): Page | undefined {
    return this.pages.at(-1);
  }

  /** Number of leaves already in the tree. */
  get appended(): number {
    return this.appends.at(-1)?.size ?? 0;
  }

  add(page: Page): void {
    this.pages.push(page);
    // Not push(...page.leaves): a page can have more leaves than a call accepts arguments.
    for (const leaf of page.leaves) this.leaves.push(leaf);
    this.appends.push(...page.appends);
    for (const note of page.notes) this.notes.set(note.leafIndex, note);
    for (const spend of page.spends) this.spends.set(spend.leafIndex, spend);
  }

  /** Replaces pages by others with the same blocks and fewer notes. */
  replace(pages: readonly Page[]): void {
    for (const page of pages) {
      const index = this.pages.findIndex(({ from }) => from === page.from);
      for (const { leafIndex } of this.pages[index]?.notes ?? []) this.notes.delete(leafIndex);
      for (const note of page.notes) this.notes.set(note.leafIndex, note);
      this.pages[index] = page;
    }
  }

  /** Removes the newest page, after a reorganization. @returns undefined if there is none */
  removeLast(): Page | undefined {
    const page = this.pages.pop();
    if (page === undefined) return undefined;
    this.leaves.length -= page.leaves.length;
    this.#untouched = Math.min(this.#untouched, this.leaves.length);
    this.appends.length -= page.appends.length;
    for (const note of page.notes) this.notes.delete(note.leafIndex);
    for (const spend of page.spends) this.spends.delete(spend.leafIndex);
    return page;
  }

  /** Number of leading leaves that no rollback has touched since the last call; a tree may keep them. */
  takeUntouched(): number {
    const untouched = this.#untouched;
    this.#untouched = this.leaves.length;
    return untouched;
  }

  /** The newest append in a block up to `block`. */
  appendAt(block: number): Append | undefined {
    return this.appends.findLast((append) => append.blockNumber <= block);
  }

  /** The leaves of some blocks, in order. */
  leavesOf(from: number, to: number): bigint[] {
    return this.pages
      .filter((page) => page.to >= from && page.from <= to)
      .flatMap(({ leaves, runs }) => {
        let end = 0;
        return runs.flatMap(([block, count]) => {
          end += count;
          return block >= from && block <= to ? leaves.slice(end - count, end) : [];
        });
      });
  }

  /** The page that contains a leaf. */
  pageOf(leafIndex: number): Page | undefined {
    if (leafIndex < 0) return undefined;
    let end = 0;
    return this.pages.find((page) => {
      end += page.leaves.length;
      return end > leafIndex;
    });
  }
}
