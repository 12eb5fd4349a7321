import {
  abortable,
  type Block,
  ChainError,
  type PageSink,
  PoolFollower,
  type PoolPage,
  readBlock,
  type SettledEvent,
  useNode,
} from "@sotto/chain";
import type { StoreChange, StoreValue } from "../store/store.ts";
import { Ledger } from "./ledger.ts";
import { NoteReader } from "./note-reader.ts";
import type { FoundNote } from "./notes.ts";
import { decodePage, encodePage, joinChanges, joinFinalPages, type Page, pageKey } from "./page.ts";
import { StoredPages } from "./pages.ts";
import type { LateKeys, ScanKeys } from "./scan-keys.ts";
import { scanPage } from "./scan-page.ts";
import { NoteScanner } from "./scanner.ts";
import { isSameLeaves, lateKeys, parseSearch, type SearchedBlocks, type SearchRecord, searchRange } from "./search.ts";
import type { ScanProgress, ScanResult, SyncOptions } from "./types.ts";

const DEFAULT_RANGE = 10_000;
/** Key of the record that says with which keys the pages were read. */
const KEYS = "scan/keys";
/** Key of the record of a search. */
const SEARCH = "scan/search";

const searchRecord = (record: SearchRecord): StoreChange => ({ put: SEARCH, value: record as unknown as StoreValue });

/** Keeps a ledger in step with the canonical chain. Each page is written to the store as a whole. */
export class PoolSync {
  readonly ledger = new Ledger();
  /** The newest block with the configured confirmations, at the last scan; undefined before the first one. */
  confirmed: Block | undefined;
  /** The newest block at the last scan. */
  head: Block | undefined;
  /** The block up to which the events are known to produce the contract's root. */
  checked = -1;
  readonly #options: SyncOptions;
  readonly #stored: StoredPages;
  readonly #follower: PoolFollower;
  #scanner: NoteScanner | undefined;
  #searched: SearchRecord;
  #late: LateKeys = new Map();
  /** Time of the deployment block, seconds. */
  #since: number | undefined;
  /** Blocks of the last searched range. Where payments are frequent, ranges are short. */
  #searchSize = DEFAULT_RANGE;

  private constructor(options: SyncOptions) {
    this.#options = options;
    this.#searched = { next: options.deploymentBlock, found: [] };
    this.#stored = new StoredPages(options.store);
    const { chain, deployment, deploymentBlock, finality, keys, rangeSize = DEFAULT_RANGE } = options;
    this.#follower = new PoolFollower({
      chain,
      pool: deployment.pool,
      deploymentBlock,
      finality,
      rangeSize,
      timed: keys !== undefined,
      // A reset loses nothing, because the wallet can read every page again.
      canReset: true,
    });
    this.#rebuildScanner();
  }

  /**
   * Opens the ledger with the pages in the store. From the first damaged or missing page on, the pages are deleted, and
   * the next scan reads them from the chain again.
   */
  static async open(options: SyncOptions): Promise<PoolSync> {
    const sync = new PoolSync(options);
    const records = await sync.#stored.list();
    let kept = 0;
    for (const { key, value } of records) {
      const page = decodePage(key, value);
      const expected = (sync.ledger.last?.to ?? options.deploymentBlock - 1) + 1;
      if (page?.from !== expected) break;
      sync.ledger.add(page);
      kept += 1;
    }
    const gone = records.slice(kept);
    if (gone.length > 0) await sync.#stored.change(gone.map(({ key }) => ({ delete: key })));
    await sync.#adoptKeys();
    sync.#rebuildScanner();
    await sync.takeFound();
    return sync;
  }

  /**
   * Removes the pages that were read without one of the keys, so that the next scan reads them again: a key of a month is missing
   * only in blocks of that time. The search begins again, because it tried other keys. Removes what a viewing wallet found with
   * keys that it no longer has.
   */
  async #adoptKeys(): Promise<void> {
    const { store, keys, deploymentBlock } = this.#options;
    if (keys === undefined) return;
    const record = parseSearch((await store.get(SEARCH))?.value);
    if (record !== undefined) this.#adoptSearch(record);
    // Stores of earlier versions have no record: their pages were read with the lasting key alone.
    const known = (await store.get(KEYS))?.value ?? (this.ledger.pages.length > 0 ? ["lasting"] : undefined);
    const names = [...keys.names.keys()];
    const changes: StoreChange[] = [{ put: KEYS, value: names }];
    if (Array.isArray(known)) {
      const added = names.filter((name) => !known.includes(name));
      if (added.length === 0 && known.length === names.length) return;
      const since = Math.min(...added.map((name) => keys.names.get(name) ?? 0));
      const kept = this.ledger.pages.findIndex(({ time }) => time >= since);
      if (kept >= 0) await this.#keep(kept);
      const found = this.#searched.found.filter(({ month }) => keys.of(month ?? undefined) !== undefined);
      this.#adoptSearch({ next: added.length > 0 ? deploymentBlock : this.#searched.next, found });
      changes.push(searchRecord(this.#searched));
    }
    const lacking = keys.keys === undefined ? this.#pagesLacking(keys.names) : [];
    changes.push(...lacking.map((page) => ({ put: pageKey(page.from), value: encodePage(page) })));
    await this.#stored.change(changes);
    this.ledger.replace(lacking);
  }

  /** The pages with notes of other keys than these, without those notes. */
  #pagesLacking(names: ScanKeys["names"]): Page[] {
    const isKept = ({ origin, month }: FoundNote) =>
      origin === "deposit" || names.has(`${origin === "payment" ? "" : "change "}${month ?? "lasting"}`);
    return this.ledger.pages
      .filter(({ notes }) => !notes.every(isKept))
      .map((page) => ({ ...page, notes: page.notes.filter(isKept) }));
  }

  /** Number of the newest block at the last scan. */
  get height(): number {
    return this.head?.number ?? 0;
  }

  /** Reads the blocks that the ledger does not have yet. Do not call it concurrently. */
  async scan(onProgress?: (progress: ScanProgress) => void, signal?: AbortSignal): Promise<ScanResult> {
    const result: ScanResult = { blocks: 0, notes: 0, spends: 0, rolledBack: 0 };
    // The reader's threads have the viewing key, so they end with the scan.
    const reader = new NoteReader();
    const { head } = await this.#follower
      .catchUp(this.#sink(result, reader, onProgress), signal)
      .finally(() => reader.close());
    const final = head.number - this.#options.finality;
    await this.#join(final);
    this.head = head;
    this.confirmed = await this.#confirmedBlock(final, signal);
    return result;
  }

  /**
   * Tries the payments of the next blocks that no search has read with the keys of all addresses. Changes nothing, so other
   * calls may run meanwhile.
   * @returns undefined if no block is left
   * @throws ChainError NODE_INCONSISTENT if the node has other events than the ledger
   */
  async searchNext(reader: NoteReader, signal?: AbortSignal): Promise<SearchedBlocks | undefined> {
    const { chain, deployment, deploymentBlock, keys, rangeSize = DEFAULT_RANGE } = this.#options;
    const { ledger, confirmed } = this;
    if (keys === undefined || confirmed === undefined) return undefined;
    const end = Math.min(confirmed.number, ledger.last?.to ?? -1);
    const { next: from } = this.#searched;
    if (from > end) return undefined;
    const source = abortable(chain, signal);
    this.#since ??= (await readBlock(source, deploymentBlock)).timestamp;
    const last = Math.min(end, from + Math.min(rangeSize, 2 * this.#searchSize) - 1);
    const viewing = keys.all(this.#since, confirmed.timestamp);
    const isKnown = ({ leafIndex }: SettledEvent) => ledger.notes.has(leafIndex);
    const leavesOf = ledger.leavesOf.bind(ledger);
    const { pool } = deployment;
    const range = { chain: source, pool, from, to: last, keys, viewing, reader, leavesOf, isKnown, signal };
    const searched = await searchRange(range);
    this.#searchSize = searched.to - from + 1;
    return { ...searched, end };
  }

  /**
   * Stores the result of a search, unless the chain was reorganized meanwhile: then the next search reads the blocks again. Do not
   * call it concurrently with a scan.
   */
  async addSearched({ from, to, leaves, found }: SearchedBlocks): Promise<void> {
    if (this.#searched.next !== from || to > (this.ledger.last?.to ?? -1)) return;
    if (!isSameLeaves(leaves, this.ledger.leavesOf(from, to))) return;
    const searched = { next: to + 1, found: [...this.#searched.found, ...found] };
    await this.#stored.change([searchRecord(searched)]);
    this.#adoptSearch(searched);
  }

  /**
   * Removes the pages from the first payment on that a search found and no scan has read: the next scan reads them with its key,
   * and finds the later events that spend it. Do not call it concurrently with a scan.
   * @returns how many payments the next scan will add
   */
  async takeFound(): Promise<number> {
    const { ledger } = this;
    const due = this.#searched.found
      .filter(({ leafIndex }) => this.#late.has(leafIndex) && !ledger.notes.has(leafIndex))
      .filter(({ leafIndex, commitment }) => String(ledger.leaves[leafIndex]) === commitment);
    const page = ledger.pageOf(Math.min(...due.map(({ leafIndex }) => leafIndex)));
    if (page !== undefined) await this.#keep(ledger.pages.indexOf(page), this.#searched);
    return due.length;
  }

  #adoptSearch(record: SearchRecord): void {
    this.#searched = record;
    this.#late = lateKeys(record, this.#options.keys);
  }

  /** Writes pages into the ledger and its store, and adds their contents to `result`. */
  #sink(result: ScanResult, reader: NoteReader, onProgress?: (progress: ScanProgress) => void): PageSink {
    const { ledger } = this;
    return {
      known: async () => ledger.pages.map(({ to, hash }) => ({ number: to, hash })).reverse(),
      counts: async () => ({ leaves: ledger.leaves.length, appended: ledger.appended }),
      add: async (events, head) => {
        const page = await this.#add(events, reader);
        result.blocks += page.to - page.from + 1;
        result.notes += page.notes.length;
        result.spends += page.spends.length;
        onProgress?.({ block: page.to, height: head.number, leaves: ledger.leaves.length });
      },
      rollBack: async (block) => {
        const kept = ledger.pages.findLastIndex(({ to }) => to <= block) + 1;
        result.rolledBack += await this.#keep(kept);
      },
      discardUnchecked: () => this.forgetUnchecked(),
    };
  }

  /** Scans a page and writes it. */
  async #add(events: PoolPage, reader: NoteReader): Promise<Page> {
    try {
      const page = await scanPage(events, reader, this.#scanner, () => this.#options.meanwhile?.(this.ledger) ?? false);
      await this.#stored.change([{ put: pageKey(page.from), value: encodePage(page) }]);
      this.ledger.add(page);
      return page;
    } catch (error) {
      // The scanner may have notes of a page that was not written.
      this.#rebuildScanner();
      throw error;
    }
  }

  /** Joins final pages, so that their number stays small however often the wallet scans. */
  async #join(final: number): Promise<void> {
    const { pages } = this.ledger;
    const joined = joinFinalPages(pages, final);
    if (joined.length === pages.length) return;
    await this.#stored.change(joinChanges(pages, joined));
    pages.splice(0, pages.length, ...joined);
  }

  /**
   * Removes the pages not yet checked against a root of the contract. A leaf that a node omitted or invented would
   * otherwise stay wrong forever, because the block hashes are right.
   */
  async forgetUnchecked(): Promise<void> {
    const index = this.ledger.pages.findIndex(({ to }) => to > this.checked);
    if (index >= 0) await this.#keep(index);
  }

  /**
   * Removes all pages but the first ones.
   * @param searched the record of the search from now on. Default: it searches the removed blocks again
   */
  async #keep(count: number, searched?: SearchRecord): Promise<number> {
    const { pages } = this.ledger;
    const gone = pages.slice(count);
    const [first, last] = [gone[0], gone.at(-1)];
    if (first === undefined || last === undefined) return 0;
    const record = searched ?? { ...this.#searched, next: Math.min(this.#searched.next, first.from) };
    // In one batch, so that a found payment never remains unread after a crash.
    await this.#stored.change([...gone.map(({ from }) => ({ delete: pageKey(from) })), searchRecord(record)]);
    this.#adoptSearch(record);
    while (pages.length > count) this.ledger.removeLast();
    this.checked = Math.min(this.checked, first.from - 1);
    this.#rebuildScanner();
    return last.to - first.from + 1;
  }

  /** Read from a node that has the ledger's chain, because proofs expire by this block's time. */
  async #confirmedBlock(final: number, signal?: AbortSignal): Promise<Block | undefined> {
    const { chain, deploymentBlock } = this.#options;
    if (final < deploymentBlock) return undefined;
    const { last } = this.ledger;
    return useNode(abortable(chain, signal), async (node) => {
      const block = await readBlock(node, final);
      if (last === undefined) return block;
      const { hash } = last.to === final ? block : await readBlock(node, last.to);
      if (hash !== last.hash)
        throw new ChainError("NODE_INCONSISTENT", "the node's chain changed during the scan; try again");
      return block;
    });
  }

  #rebuildScanner(): void {
    const { keys, deployment } = this.#options;
    if (keys === undefined) return;
    this.#scanner = new NoteScanner(keys, deployment, this.#late);
    for (const note of this.ledger.notes.values()) this.#scanner.recall(note);
  }
}
