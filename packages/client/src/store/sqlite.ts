import { chmodSync, closeSync, openSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { WalletError } from "../errors.ts";
import { assertNodeVersion } from "../node-version.ts";
import { BatchStore, checkVersion, type StoreChange, type StoredRecord, stepsOf } from "./store.ts";

interface Row {
  version: number;
  key: string;
  value: string;
}

const MEMORY = ":memory:";

/**
 * A store in one SQLite file, through the SQLite of Node 22.13 or newer. It is a separate entry point, so that a
 * browser bundle never imports `node:` modules. Only the owner can read the file, because it shows all payments.
 */
export class SqliteStore extends BatchStore {
  readonly #database: DatabaseSync;
  // Node 22.13 has neither `isOpen` nor `isTransaction` of DatabaseSync.
  #isOpen = true;

  /**
   * @param path the file, created if missing; ":memory:" for a database in memory
   * @throws WalletError NODE_TOO_OLD
   */
  constructor(path: string) {
    super();
    assertNodeVersion();
    // Not a static import, because an older Node would fail to load this module and print a stack trace.
    const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
    if (path !== MEMORY) {
      closeSync(openSync(path, "a", 0o600));
      chmodSync(path, 0o600);
    }
    this.#database = new DatabaseSync(path);
    // FULL: a commit that returned survives a power cut. AUTOINCREMENT: a version is never reused.
    this.#database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA busy_timeout = 5000;
      CREATE TABLE IF NOT EXISTS records (
        version INTEGER PRIMARY KEY AUTOINCREMENT,
        key TEXT NOT NULL UNIQUE,
        value TEXT NOT NULL
      ) STRICT;`);
  }

  async get(key: string): Promise<StoredRecord | undefined> {
    const row = this.#open().prepare("SELECT version, key, value FROM records WHERE key = ?").get(key);
    return row && toRecord(row as unknown as Row);
  }

  async list(prefix: string): Promise<StoredRecord[]> {
    // U+FFFF sorts after every character that a key may contain.
    const rows = this.#open()
      .prepare("SELECT version, key, value FROM records WHERE key >= ? AND key < ? ORDER BY key")
      .all(prefix, `${prefix}\uffff`);
    return rows.map((row) => toRecord(row as unknown as Row));
  }

  async batch(changes: readonly StoreChange[]): Promise<void> {
    const database = this.#open();
    const steps = stepsOf(changes);
    // IMMEDIATE takes the write lock before the versions are read: no other process can write in between.
    database.exec("BEGIN IMMEDIATE");
    try {
      const version = database.prepare("SELECT version FROM records WHERE key = ?");
      const put = database.prepare("INSERT OR REPLACE INTO records (key, value) VALUES (?, ?)");
      const remove = database.prepare("DELETE FROM records WHERE key = ?");
      for (const { key, expected } of steps)
        checkVersion(key, (version.get(key) as { version: number } | undefined)?.version, expected);
      for (const { key, text } of steps) text === undefined ? remove.run(key) : put.run(key, text);
      database.exec("COMMIT");
    } catch (error) {
      rollBack(database);
      throw error;
    }
  }

  async close(): Promise<void> {
    if (this.#isOpen) this.#database.close();
    this.#isOpen = false;
  }

  #open(): DatabaseSync {
    if (!this.#isOpen) throw new WalletError("STORE_CLOSED", "the store was closed");
    return this.#database;
  }
}

function toRecord({ version, key, value }: Row): StoredRecord {
  return { key, version, value: JSON.parse(value) };
}

function rollBack(database: DatabaseSync): void {
  try {
    database.exec("ROLLBACK");
  } catch {
    // A failed commit, for example on a full disk, may have rolled back by itself. The caller throws the error that
    // matters.
  }
}
