// The follower's sink: stores pages in memory and in the cache.
import type { BlockRef, PageSink, PoolPage, QueueCounts } from "@sotto/chain";
import { type Failure, uncachedBecause } from "../errors.ts";
import type { CachedPage, PoolCache } from "./pool-cache.ts";
import { PoolHistory } from "./pool-history.ts";

/** The newest pages are not merged, so that a reorganization rolls back little. */
const SEPARATE_PAGES = 32;
/** Older pages are merged until they have this many events, because each read of an idle chain adds an empty page. */
const MERGED_EVENTS = 2048;

export class PoolPages implements PageSink {
  readonly history = new PoolHistory();
  /** Undefined if another tab writes it, or if the browser has no space. */
  #cache: PoolCache | undefined;
  #pages: CachedPage[] = [];
  /** Counters of all changes, and of changes that removed events. */
  revision = 0;
  removals = 0;
  /** Why the cache is not written. */
  uncached: Failure | undefined;
  /** Called after each page that was added. */
  readonly #onPage: (page: PoolPage) => void;

  private constructor(cache: PoolCache | undefined, onPage: (page: PoolPage) => void) {
    this.#cache = cache;
    this.#onPage = onPage;
  }

  /** @param pages the cached pages */
  static create(
    cache: PoolCache | undefined,
    pages: readonly CachedPage[],
    onPage: (page: PoolPage) => void,
  ): PoolPages {
    const created = new PoolPages(cache, onPage);
    created.#pages = [...pages];
    for (const { events } of pages) created.history.add(events);
    return created;
  }

  /** The last block that was read. */
  get last(): BlockRef | undefined {
    const page = this.#pages.at(-1);
    return page === undefined ? undefined : { number: page.to, hash: page.hash };
  }

  async known(): Promise<readonly BlockRef[]> {
    return this.#pages.map(({ to, hash }) => ({ number: to, hash })).reverse();
  }

  async counts(): Promise<QueueCounts> {
    return this.history.counts();
  }

  async add(page: PoolPage): Promise<void> {
    const { from, to, hash, events } = page;
    this.#pages.push({ from, to, hash, events });
    const changed = this.#merge() ?? from;
    await this.#write(changed);
    this.history.add(events);
    this.revision += 1;
    this.#onPage(page);
  }

  /** Merges the two pages before the newest, unmerged ones if they are small. @returns the first changed block */
  #merge(): number | undefined {
    const at = this.#pages.length - SEPARATE_PAGES - 1;
    const [older, newer] = [this.#pages[at - 1], this.#pages[at]];
    if (older === undefined || newer === undefined) return undefined;
    if (older.events.length + newer.events.length > MERGED_EVENTS) return undefined;
    this.#pages.splice(at - 1, 2, {
      from: older.from,
      to: newer.to,
      hash: newer.hash,
      events: [...older.events, ...newer.events],
    });
    return older.from;
  }

  async rollBack(to: number): Promise<void> {
    this.#pages = this.#pages.filter((page) => page.to <= to);
    const kept = this.#pages.at(-1)?.to ?? -1;
    await this.#write(kept + 1);
    if (this.history.rollBack(kept)) this.removals += 1;
    this.revision += 1;
  }

  /** Pages that lack events cannot be distinguished from the others, so everything is read again. */
  discardUnchecked(): Promise<void> {
    return this.rollBack(-1);
  }

  /** Removes everything, because the chain was restarted with another block 0. */
  async restart(genesis: string): Promise<void> {
    await this.#change((cache) => cache.reset(genesis));
    await this.rollBack(-1);
  }

  #write(from: number): Promise<void> {
    const changed = this.#pages.filter((page) => page.from >= from);
    return this.#change((cache) => cache.replace(from, changed));
  }

  /** Writes to the cache, until a write fails. */
  async #change(change: (cache: PoolCache) => Promise<void>): Promise<void> {
    if (this.#cache === undefined) return;
    try {
      await change(this.#cache);
    } catch (error) {
      // The data is public and can be read again, so the feed continues without the cache.
      this.uncached = uncachedBecause(error);
      this.#cache = undefined;
    }
  }
}
