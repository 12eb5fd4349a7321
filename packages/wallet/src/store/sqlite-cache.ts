import { rmSync } from "node:fs";
import { WalletError } from "../errors.ts";
import { openText, sealText } from "./seal.ts";
import { MEMORY, RECORDS, type Row, SqliteFile } from "./sqlite-file.ts";
import type { Step, StoredRecord } from "./store.ts";

/** Results of SQLite that say nothing about the file: busy, locked, full. */
const NOT_DAMAGE = [5, 6, 13];

/**
 * The records that a scan of the chain restores, in a file of their own, so that damage to them cannot touch records
 * without a second copy. A damaged record counts as missing, and a file that SQLite cannot use is replaced by an empty
 * one: the wallet then reads the chain again.
 */
export class SqliteCache {
  readonly #path: string;
  readonly #scope: string;
  #file: SqliteFile | undefined;

  /** @param scope identifies the store; records of another store count as missing */
  constructor(path: string, scope: string) {
    this.#path = path;
    this.#scope = scope;
  }

  get(key: string): StoredRecord | undefined {
    const row = this.#use((file) => file.get(key));
    // With a damaged index, SQLite may find the row of another key.
    return row?.key === key ? this.#record(row) : undefined;
  }

  list(prefix: string): StoredRecord[] {
    const rows = this.#use((file) => file.list(prefix));
    return rows.flatMap((row) => (String(row.key).startsWith(prefix) ? (this.#record(row) ?? []) : []));
  }

  /** Applies all steps or none. @param commit called before they are committed; if it throws, nothing is written */
  apply(steps: readonly Step[], commit: () => void): void {
    const sealed = steps.map((step) => ({
      ...step,
      text: step.text === undefined ? undefined : sealText(step.key, step.text, this.#scope),
    }));
    let done = false;
    let failed = false;
    const once = () => {
      if (done) return;
      // Set in advance, because an error of `commit` says nothing about this file.
      failed = true;
      commit();
      [done, failed] = [true, false];
    };
    this.#use(
      (file) => file.apply(sealed, once),
      (error) => !failed && isDamage(error),
    );
  }

  close(): void {
    this.#file?.close();
    this.#file = undefined;
  }

  #record({ key, version, value }: Row): StoredRecord | undefined {
    const text = openText(String(key), value, this.#scope);
    if (text === undefined || typeof version !== "number") return undefined;
    return { key: String(key), version, value: JSON.parse(text) };
  }

  /** Runs `action` on the file. If that fails because the file is damaged, runs it again on an empty one. */
  #use<T>(action: (file: SqliteFile) => T, isOwn = isDamage): T {
    try {
      return action(this.#open());
    } catch (error) {
      if (!isOwn(error)) throw error;
      this.#discard();
      return action(this.#open());
    }
  }

  #open(): SqliteFile {
    if (this.#file !== undefined) return this.#file;
    const file = new SqliteFile(this.#path, "NORMAL");
    try {
      createTable(file);
      const found = file.schema();
      if (found.size !== 1 || found.get("records") !== RECORDS) throw new Error("the cache has another schema");
    } catch (error) {
      file.close();
      throw error;
    }
    this.#file = file;
    return file;
  }

  #discard(): void {
    try {
      this.close();
    } catch {
      this.#file = undefined;
    }
    if (this.#path === MEMORY) return;
    for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(this.#path + suffix, { force: true });
  }
}

/** Creates the table in an empty file. Versions start above those of earlier files, because none is ever reused. */
function createTable(file: SqliteFile): void {
  if (file.schema().size > 0) return;
  const { database } = file;
  database.exec("BEGIN IMMEDIATE");
  // Another process may have created it in the meantime.
  if (file.schema().size === 0) {
    database.exec(RECORDS);
    database.prepare("INSERT INTO sqlite_sequence (name, seq) VALUES ('records', ?)").run(Date.now() * 1000);
  }
  database.exec("COMMIT");
}

function isDamage(error: unknown): boolean {
  if (error instanceof WalletError) return false;
  const { errcode } = Object(error) as { errcode?: unknown };
  return typeof errcode !== "number" || !NOT_DAMAGE.includes(errcode & 0xff);
}
