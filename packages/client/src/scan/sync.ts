import {
  type Block,
  ChainError,
  type ChainSource,
  type EventRange,
  fetchRange,
  splitRange,
  useNode,
} from "@sotto/chain";
import { WalletError } from "../errors.ts";
import { Ledger } from "./ledger.ts";
import { decodePage, encodePage, joinChanges, joinFinalPages, type Page, pageKey } from "./page.ts";
import { StoredPages } from "./pages.ts";
import { readPage } from "./reader.ts";
import { NoteScanner } from "./scanner.ts";
import type { ScanProgress, ScanResult, SyncOptions } from "./types.ts";

const MAX_RESTARTS = 5;
const DEFAULT_RANGE = 10_000;

/** Keeps a ledger in step with the canonical chain, page by page, each written to the store before the next is read. */
export class PoolSync {
  readonly ledger = new Ledger();
  /** The newest block with the configured confirmations, at the last scan; undefined before the first one. */
  confirmed: Block | undefined;
  height = 0;
  /** Up to this block the events are known to make the contract's root. */
  checked = -1;
  readonly #options: SyncOptions;
  readonly #stored: StoredPages;
  #scanner: NoteScanner | undefined;
  #range: number;
  /** What the node gives at once, as far as known. */
  #most: number;

  private constructor(options: SyncOptions) {
    this.#options = options;
    this.#stored = new StoredPages(options.store);
    this.#range = options.rangeSize ?? DEFAULT_RANGE;
    this.#most = this.#range;
    this.#rebuildScanner();
  }

  /** Opens the ledger as the store has it. */
  static async open(options: SyncOptions): Promise<PoolSync> {
    const sync = new PoolSync(options);
    for (const { key, value } of await sync.#stored.list()) {
      const page = decodePage(key, value);
      const expected = sync.#next();
      if (page.from !== expected)
        throw new WalletError("STORE_DAMAGED", `record ${key} follows block ${expected - 1}: delete the store`);
      sync.ledger.add(page);
    }
    sync.#rebuildScanner();
    return sync;
  }

  /** Reads what the chain has that the ledger has not. Call it from one place at a time. */
  async scan(onProgress?: (progress: ScanProgress) => void, signal?: AbortSignal): Promise<ScanResult> {
    const result: ScanResult = { blocks: 0, notes: 0, spends: 0, rolledBack: 0 };
    const { chain, finality, deploymentBlock } = this.#options;
    const height = (await chain.head()).number;
    if (height < deploymentBlock)
      throw new ChainError(
        "NODE_INCONSISTENT",
        `the node is at block ${height}, the pool was deployed in ${deploymentBlock}`,
      );
    const final = height - finality;
    for (let restarts = 0; ; restarts += 1) {
      result.rolledBack += await this.#rollBack();
      if (await this.#readTo(height, final, result, onProgress, signal)) break;
      if (restarts >= MAX_RESTARTS)
        throw new ChainError("NODE_INCONSISTENT", "the node's chain kept changing during the scan: try again");
    }
    await this.#join(final);
    this.height = height;
    this.confirmed = await this.#confirmedBlock(final);
    return result;
  }

  /** Reads pages up to `height`; false when the chain changed in between. */
  async #readTo(
    height: number,
    final: number,
    result: ScanResult,
    onProgress?: (progress: ScanProgress) => void,
    signal?: AbortSignal,
  ): Promise<boolean> {
    while (this.#next() <= height) {
      signal?.throwIfAborted();
      const from = this.#next();
      // No page reaches over the border of what is final: a common reorganisation then costs a small page only.
      const border = from <= final ? Math.min(final, height) : height;
      const range = await this.#fetch(from, Math.min(from + this.#range - 1, border));
      if (range === "too large") continue;
      if (range === undefined) return false;
      for (const part of splitRange(range)) {
        signal?.throwIfAborted();
        const page = await this.#read(part);
        result.blocks += page.to - page.from + 1;
        result.notes += page.notes.length;
        result.spends += page.spends.length;
        onProgress?.({ block: page.to, height, leaves: this.ledger.leaves.length });
      }
    }
    return true;
  }

  async #fetch(from: number, to: number): Promise<EventRange | "too large" | undefined> {
    const { chain, deployment, keys, rangeSize = DEFAULT_RANGE } = this.#options;
    try {
      const range = { from, to, timed: keys !== undefined };
      const fetch = (node: ChainSource) => fetchRange(node, deployment.pool, range, this.ledger.last);
      const fetched = await useNode(chain, fetch, (found) => found !== undefined);
      // Up to what was refused last, and a little beyond from time to time: some nodes count logs, not blocks.
      this.#range = Math.min(this.#range * 2, this.#most, rangeSize);
      this.#most += Math.floor(this.#most / 16);
      return fetched;
    } catch (error) {
      if (!(error instanceof ChainError) || error.code !== "RANGE_TOO_LARGE" || to === from) throw error;
      this.#most = to - from;
      this.#range = Math.max(1, Math.floor((to - from + 1) / 2));
      return "too large";
    }
  }

  /** Reads a page and writes it. */
  async #read(range: EventRange): Promise<Page> {
    const start = { leaves: this.ledger.leaves.length, appended: this.ledger.appended };
    try {
      const page = await readPage(this.#options.chain, range, start, this.#scanner);
      await this.#stored.change([{ put: pageKey(page.from), value: encodePage(page) }]);
      this.ledger.add(page);
      return page;
    } catch (error) {
      // The scanner may know notes of a page that is not there.
      this.#rebuildScanner();
      if (error instanceof ChainError && error.code === "NODE_INCONSISTENT") await this.forgetUnchecked();
      throw error;
    }
  }

  /** Joins final pages, so that they stay few however often the wallet looks. */
  async #join(final: number): Promise<void> {
    const { pages } = this.ledger;
    const joined = joinFinalPages(pages, final);
    if (joined.length === pages.length) return;
    await this.#stored.change(joinChanges(pages, joined));
    pages.splice(0, pages.length, ...joined);
  }

  /** Takes off the pages that are no longer of the canonical chain. Gives the number of blocks taken back. */
  async #rollBack(): Promise<number> {
    const { chain } = this.#options;
    const { pages } = this.ledger;
    let keep = pages.length;
    while (keep > 0 && (await chain.block(pages[keep - 1]!.to))?.hash !== pages[keep - 1]!.hash) keep -= 1;
    return this.#keep(keep);
  }

  /**
   * Takes off the pages not yet checked against a root of the contract: what a node left out or made up would stay wrong
   * for ever, because the hashes of its blocks are right.
   */
  async forgetUnchecked(): Promise<void> {
    const index = this.ledger.pages.findIndex(({ to }) => to > this.checked);
    if (index >= 0) await this.#keep(index);
  }

  async #keep(count: number): Promise<number> {
    const { pages } = this.ledger;
    const gone = pages.slice(count);
    if (gone.length === 0) return 0;
    await this.#stored.change(gone.map(({ from }) => ({ delete: pageKey(from) })));
    while (pages.length > count) this.ledger.removeLast();
    this.checked = Math.min(this.checked, gone[0]!.from - 1);
    this.#rebuildScanner();
    return gone.at(-1)!.to - gone[0]!.from + 1;
  }

  async #confirmedBlock(final: number): Promise<Block | undefined> {
    if (final < this.#options.deploymentBlock) return undefined;
    const block = await this.#options.chain.block(final);
    if (block === undefined) throw new ChainError("NODE_INCONSISTENT", `the node has no block ${final}`);
    return block;
  }

  #next(): number {
    const { last } = this.ledger;
    return last === undefined ? this.#options.deploymentBlock : last.to + 1;
  }

  #rebuildScanner(): void {
    const { keys, deployment } = this.#options;
    if (keys === undefined) return;
    this.#scanner = new NoteScanner(keys, deployment);
    for (const note of this.ledger.notes.values()) this.#scanner.recall(note);
  }
}
