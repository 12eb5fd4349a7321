// Databases that are backed up and restored with the commands of docs/operations-backup.md.
import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { commandsOf, isInstalled, runAll } from "./page.ts";
import { openPostgres } from "./postgres.ts";

export interface BackedUp {
  /** Value of SOTTO_STORE. */
  readonly store: string;
  /** Whether `backUp` works while the service runs. */
  readonly whileRunning: boolean;
  backUp(): Promise<void>;
  /** Puts the copy in place. @returns value of SOTTO_STORE */
  restore(): Promise<string>;
  stop(): Promise<void>;
}

/** Without the shell of SQLite, the function of SQLite that it calls makes the copy. */
async function sqlite(): Promise<BackedUp> {
  const folder = temporaryFolder("backup");
  const [path, copy] = ["service.sqlite", "service-backup.sqlite"].map((name) => join(folder, name));
  const backUp = async () => {
    rmSync(copy!, { force: true });
    if (isInstalled("sqlite3")) {
      runAll(commandsOf("operations-backup.md: Back up"), folder, {});
      if ((statSync(copy!).mode & 0o077) !== 0) throw new Error("other users can read the copy");
      return;
    }
    const database = new DatabaseSync(path!);
    await backup(database, copy!);
    database.close();
  };
  const restore = async () => {
    runAll(commandsOf("operations-backup.md: Restore"), folder, {});
    return `sqlite:${path}`;
  };
  return { store: `sqlite:${path}`, whileRunning: true, backUp, restore, stop: async () => undefined };
}

/** Without pg_dump, the server itself copies the database, which it does only if nobody else is connected. */
async function postgres(): Promise<BackedUp> {
  const { hasTools, variables, url, query, stop } = await openPostgres();
  const folder = temporaryFolder("backup");
  return {
    store: url("sotto"),
    whileRunning: hasTools,
    backUp: async () => {
      if (hasTools) return void runAll(commandsOf("operations-backup.md: Back up 2"), folder, variables);
      await query("drop database if exists copied");
      await query("create database copied template sotto");
    },
    restore: async () => {
      if (hasTools) runAll(commandsOf("operations-backup.md: Restore 2"), folder, variables);
      else await query("create database sotto_restored template copied");
      return url("sotto_restored");
    },
    stop,
  };
}

export const BACKED_UP = { SQLite: sqlite, PostgreSQL: postgres };
