import { chmodSync, closeSync, openSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { assertVersion, type Step } from "./store.ts";

/** A row as SQLite returned it. In a damaged file, a column can have any type. */
export interface Row {
  version: unknown;
  key: unknown;
  value: unknown;
}

export const MEMORY = ":memory:";

/** AUTOINCREMENT: a version is never reused. */
export const RECORDS = `CREATE TABLE records (
  version INTEGER PRIMARY KEY AUTOINCREMENT,
  key TEXT NOT NULL UNIQUE,
  value TEXT NOT NULL
) STRICT`;

/** One SQLite file with a table of records. Only its owner can read it, because it shows all payments. */
export class SqliteFile {
  readonly database: DatabaseSync;

  /** @param synchronous FULL: a commit that returned survives a power cut. NORMAL: it may be rolled back. */
  constructor(path: string, synchronous: "FULL" | "NORMAL") {
    // Not a static import, because an older Node would fail to load this module and print a stack trace.
    const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
    if (path !== MEMORY) {
      closeSync(openSync(path, "a", 0o600));
      chmodSync(path, 0o600);
    }
    this.database = new DatabaseSync(path);
    try {
      this.database.exec(`PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** The statements that made the tables, by name. SQLite's own tables are omitted. */
  schema(): Map<string, string> {
    const rows = this.database.prepare("SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'").all();
    return new Map(rows.map(({ name, sql }) => [String(name), String(sql)]));
  }

  get(key: string): Row | undefined {
    const row = this.database.prepare("SELECT version, key, value FROM records WHERE key = ?").get(key);
    return row as unknown as Row | undefined;
  }

  list(prefix: string): Row[] {
    // U+FFFF sorts after every character that a key may contain.
    const rows = this.database
      .prepare("SELECT version, key, value FROM records WHERE key >= ? AND key < ? ORDER BY key")
      .all(prefix, `${prefix}\uffff`);
    return rows as unknown as Row[];
  }

  /** Applies all steps or none. @param commit called before the commit; if it throws, nothing is written */
  apply(steps: readonly Step[], commit: () => void = () => undefined): void {
    const { database } = this;
    // IMMEDIATE takes the write lock before the versions are read: no other process can write in between.
    database.exec("BEGIN IMMEDIATE");
    try {
      const version = database.prepare("SELECT version FROM records WHERE key = ?");
      const put = database.prepare("INSERT OR REPLACE INTO records (key, value) VALUES (?, ?)");
      const remove = database.prepare("DELETE FROM records WHERE key = ?");
      for (const { key, expected } of steps)
        assertVersion(key, (version.get(key) as { version: number } | undefined)?.version, expected);
      for (const { key, text } of steps) text === undefined ? remove.run(key) : put.run(key, text);
      commit();
      database.exec("COMMIT");
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  close(): void {
    this.database.close();
  }

  #rollBack(): void {
    try {
      this.database.exec("ROLLBACK");
    } catch {
      // A failed commit, for example on a full disk, may have rolled back by itself. The caller throws the error that
      // matters.
    }
  }
}
