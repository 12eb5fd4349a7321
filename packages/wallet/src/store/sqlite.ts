import { statSync } from "node:fs";
import { hexlify, randomBytes } from "ethers";
import { WalletError } from "../errors.ts";
import { assertNodeVersion } from "../node-version.ts";
import { damaged, openText, sealText } from "./seal.ts";
import { SqliteCache } from "./sqlite-cache.ts";
import { MEMORY, RECORDS, type Row, SqliteFile } from "./sqlite-file.ts";
import { BatchStore, isCacheKey, type StoreChange, type StoredRecord, stepsOf } from "./store.ts";

/** Identifies the store, so that the cache of another store is not used. */
const STORE = "CREATE TABLE store (id TEXT NOT NULL) STRICT";

/** Results of SQLite that say nothing about the file: permission, busy, locked, read-only, interrupted, I/O, full. */
const NOT_DAMAGE = [3, 5, 6, 8, 9, 10, 13, 14];

/**
 * A store in two SQLite files, through the SQLite of Node 22.13 or newer: `PATH` has the records without a second copy,
 * and `PATH.cache` what was read from the chain. The cache may be damaged or deleted at any time. If the other file is
 * damaged, the store refuses it, because to lose a record of it silently could reveal a payment or lose a purchase.
 *
 * It is a separate entry point, so that a browser bundle never imports `node:` modules.
 */
export class SqliteStore extends BatchStore {
  readonly #records: SqliteFile;
  readonly #cache: SqliteCache;
  // Node 22.13 has neither `isOpen` nor `isTransaction` of DatabaseSync.
  #isOpen = true;

  /**
   * @param path the file, created if missing; ":memory:" for a database in memory
   * @throws WalletError NODE_TOO_OLD, STORE_DAMAGED
   */
  constructor(path: string) {
    super();
    assertNodeVersion();
    const cache = path === MEMORY ? MEMORY : `${path}.cache`;
    // Creating a new file in place of one that was cut to nothing would hide that its records are lost.
    const mayBeNew = !(isFile(path) && isFile(cache));
    const { file, id } = guard(`the file ${path}`, () => openRecords(path, mayBeNew));
    this.#records = file;
    this.#cache = new SqliteCache(cache, id);
  }

  async get(key: string): Promise<StoredRecord | undefined> {
    const records = this.#open();
    if (isCacheKey(key)) return this.#cache.get(key);
    const row = guard(`record ${key}`, () => records.get(key));
    return row && toRecord(row);
  }

  async list(prefix: string): Promise<StoredRecord[]> {
    const records = this.#open();
    const kept = guard(`one of the records ${prefix}*`, () => records.list(prefix)).map(toRecord);
    // No other key starts like one of the cache.
    const cached = this.#cache.list(prefix);
    return cached.length === 0 ? kept : [...kept, ...cached].sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  async batch(changes: readonly StoreChange[]): Promise<void> {
    const records = this.#open();
    const steps = stepsOf(changes);
    const cached = steps.filter(({ key }) => isCacheKey(key));
    const kept = steps.flatMap((step) => (isCacheKey(step.key) ? [] : { ...step, text: sealed(step.key, step.text) }));
    const write = () => {
      if (kept.length > 0) records.apply(kept);
    };
    // A crash in between loses only the changes of the cache.
    if (cached.length > 0) this.#cache.apply(cached, write);
    else write();
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#cache.close();
    this.#records.close();
  }

  #open(): SqliteFile {
    if (!this.#isOpen) throw new WalletError("STORE_CLOSED", "the store was closed");
    return this.#records;
  }
}

const isFile = (path: string): boolean => path !== MEMORY && statSync(path, { throwIfNoEntry: false }) !== undefined;

const sealed = (key: string, text: string | undefined): string | undefined =>
  text === undefined ? undefined : sealText(key, text, "");

function toRecord({ key, version, value }: Row): StoredRecord {
  const text = openText(String(key), value, "");
  if (text === undefined || typeof version !== "number") throw damaged(`record ${String(key)}`);
  return { key: String(key), version, value: JSON.parse(text) };
}

/** Opens the file of the records without a second copy, and checks it. */
function openRecords(path: string, mayBeNew: boolean): { file: SqliteFile; id: string } {
  const file = new SqliteFile(path, "FULL");
  const { database } = file;
  try {
    if (mayBeNew && file.schema().size === 0) {
      database.exec("BEGIN IMMEDIATE");
      // Another process may have created them in the meantime.
      if (file.schema().size === 0) {
        database.exec(`${RECORDS}; ${STORE}`);
        database.prepare("INSERT INTO store (id) VALUES (?)").run(hexlify(randomBytes(16)));
      }
      database.exec("COMMIT");
    }
    const schema = file.schema();
    // The check finds rows that an index or a table lacks; the seals find changed values.
    const [check, ...more] = database.prepare("PRAGMA integrity_check").all();
    const [store, ...others] = database.prepare("SELECT id FROM store").all();
    const isWhole =
      schema.size === 2 && schema.get("records") === RECORDS && schema.get("store") === STORE && more.length === 0;
    if (!isWhole || check?.["integrity_check"] !== "ok" || store === undefined || others.length > 0)
      throw damaged(`the file ${path}`);
    return { file, id: String(store["id"]) };
  } catch (error) {
    file.close();
    throw error;
  }
}

/** Runs `action`, and reports errors that only a damaged file causes as such. */
function guard<T>(what: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof WalletError) throw error;
    const { errcode, code } = Object(error) as { errcode?: unknown; code?: unknown };
    const isDamage = typeof errcode === "number" ? !NOT_DAMAGE.includes(errcode & 0xff) : code === "ERR_OUT_OF_RANGE";
    if (!isDamage) throw error;
    throw damaged(what, error);
  }
}
