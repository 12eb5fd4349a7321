// Caches a feed's data in IndexedDB, so that after a reload only new blocks are read. It contains public data only.
import type { PoolEvent } from "@sotto/chain";
import { type DBSchema, type IDBPDatabase, openDB } from "idb";

/** Consecutive blocks with the pool's events. */
export interface CachedPage {
  readonly from: number;
  readonly to: number;
  /** Hash of block `to`. */
  readonly hash: string;
  readonly events: readonly PoolEvent[];
}

export interface CachedGas {
  readonly gasUsed: bigint;
  readonly gasPrice: bigint;
}

interface Schema extends DBSchema {
  /** Keyed by the number of a page's first block. */
  pages: { key: number; value: CachedPage };
  /**
   * Keyed by transaction hash. On one chain a hash has only one receipt; if the chain changes, the cache is cleared
   * too.
   */
  gas: { key: string; value: CachedGas };
  facts: { key: "genesis"; value: string };
}

export class PoolCache {
  readonly #database: IDBPDatabase<Schema>;

  private constructor(database: IDBPDatabase<Schema>) {
    this.#database = database;
  }

  static async open(name: string): Promise<PoolCache> {
    return new PoolCache(
      await openDB<Schema>(name, 1, {
        upgrade(database) {
          database.createObjectStore("pages");
          database.createObjectStore("gas");
          database.createObjectStore("facts");
        },
      }),
    );
  }

  genesis(): Promise<string | undefined> {
    return this.#database.get("facts", "genesis");
  }

  /** Oldest first. */
  pages(): Promise<CachedPage[]> {
    return this.#database.getAll("pages");
  }

  async gas(hashes: readonly string[]): Promise<(CachedGas | undefined)[]> {
    const { store } = this.#database.transaction("gas");
    return Promise.all(hashes.map((hash) => store.get(hash)));
  }

  async addGas(entries: readonly (readonly [hash: string, gas: CachedGas])[]): Promise<void> {
    const transaction = this.#database.transaction("gas", "readwrite");
    await Promise.all([...entries.map(([hash, gas]) => transaction.store.put(gas, hash)), transaction.done]);
  }

  /** Replaces all pages that begin at block `from` or later, in one step. */
  async replace(from: number, pages: readonly CachedPage[]): Promise<void> {
    const transaction = this.#database.transaction("pages", "readwrite");
    await Promise.all([
      transaction.store.delete(IDBKeyRange.lowerBound(from)),
      ...pages.map((page) => transaction.store.put(page, page.from)),
      transaction.done,
    ]);
  }

  /** Deletes everything, and stores which chain the next pages belong to. */
  async reset(genesis: string): Promise<void> {
    const transaction = this.#database.transaction(["pages", "gas", "facts"], "readwrite");
    await Promise.all([
      transaction.objectStore("pages").clear(),
      transaction.objectStore("gas").clear(),
      transaction.objectStore("facts").put(genesis, "genesis"),
      transaction.done,
    ]);
  }

  close(): void {
    this.#database.close();
  }
}
