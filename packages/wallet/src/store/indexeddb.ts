import { type DBSchema, type IDBPDatabase, openDB } from "idb";
import { WalletError } from "../errors.ts";
import { damaged, openText, sealText } from "./seal.ts";
import { assertVersion, BatchStore, isCacheKey, type StoreChange, type StoredRecord, stepsOf } from "./store.ts";

interface Schema extends DBSchema {
  records: { key: number; value: { version: number; key: string; text: string }; indexes: { key: string } };
}

/**
 * A store in the browser's IndexedDB. Open it with `IndexedDbStore.open`. Damaged records of the cache count as missing;
 * the browser itself checks the structure of its files.
 */
export class IndexedDbStore extends BatchStore {
  readonly #database: IDBPDatabase<Schema>;
  #closed = false;

  private constructor(database: IDBPDatabase<Schema>) {
    super();
    this.#database = database;
  }

  /**
   * Opens the database, and creates it if there is none.
   * @param name the database's name, one for each wallet of an origin.
   */
  static async open(name: string): Promise<IndexedDbStore> {
    const database = await openDB<Schema>(name, 1, {
      upgrade(db) {
        // The key generator of an object store never repeats a key, so it provides the versions.
        const records = db.createObjectStore("records", { keyPath: "version", autoIncrement: true });
        records.createIndex("key", "key", { unique: true });
      },
    });
    return new IndexedDbStore(database);
  }

  async get(key: string): Promise<StoredRecord | undefined> {
    const found = await this.#open().getFromIndex("records", "key", key);
    return found && toRecord(found);
  }

  async list(prefix: string): Promise<StoredRecord[]> {
    const range = IDBKeyRange.bound(prefix, `${prefix}\uffff`, false, true);
    const found = await this.#open().getAllFromIndex("records", "key", range);
    return found.flatMap((record) => toRecord(record) ?? []);
  }

  async batch(changes: readonly StoreChange[]): Promise<void> {
    const database = this.#open();
    const steps = stepsOf(changes).map((step) => ({
      ...step,
      text: step.text === undefined ? undefined : sealText(step.key, step.text, ""),
    }));
    // "strict": the promise settles only when the data is on disk, which the journal relies on.
    const transaction = database.transaction("records", "readwrite", { durability: "strict" });
    try {
      const byKey = transaction.store.index("key");
      const versions = await Promise.all(steps.map(({ key }) => byKey.getKey(key)));
      steps.forEach(({ key, expected }, i) => {
        assertVersion(key, versions[i], expected);
      });
      const writes: Promise<unknown>[] = [];
      for (const [i, { key, text }] of steps.entries()) {
        const version = versions[i];
        if (version !== undefined) writes.push(transaction.store.delete(version));
        // Cast, because the key generator fills in the key path "version".
        if (text !== undefined) writes.push(transaction.store.add({ key, text } as Schema["records"]["value"]));
      }
      await Promise.all([...writes, transaction.done]);
    } catch (error) {
      // A failed write has aborted the transaction already; a conflict found by assertVersion has not.
      if (error instanceof WalletError) transaction.abort();
      await transaction.done.catch(() => undefined);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#database.close();
  }

  #open(): IDBPDatabase<Schema> {
    if (this.#closed) throw new WalletError("STORE_CLOSED", "the store was closed");
    return this.#database;
  }
}

/** @returns undefined for a damaged record of the cache */
function toRecord({ key, version, text: sealed }: Schema["records"]["value"]): StoredRecord | undefined {
  const text = openText(key, sealed, "");
  if (text !== undefined) return { key, version, value: JSON.parse(text) };
  if (isCacheKey(key)) return undefined;
  throw damaged(`record ${key}`);
}
