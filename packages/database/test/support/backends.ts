// The databases every suite runs over: what holds for one has to hold for the other.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres, type TestPostgres } from "./postgres.ts";

export interface Backend {
  start(): Promise<void>;
  /** Address of an empty database. */
  url(): Promise<string>;
  stop(): Promise<void>;
}

function sqlite(): Backend {
  let folder = "";
  let count = 0;
  return {
    start: async () => {
      folder = mkdtempSync(join(tmpdir(), "sotto-database-"));
    },
    url: async () => `sqlite:${join(folder, "new", `${++count}.db`)}`,
    stop: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** One server for all suites of a run: each database in it is empty when it is handed out. */
let shared: Promise<TestPostgres> | undefined;
after(async () => (await shared)?.stop());

function postgres(): Backend {
  return {
    start: async () => {
      shared ??= startPostgres();
      await shared;
    },
    url: async () => (await shared!).database(),
    stop: async () => undefined,
  };
}

export const backends = (): Record<string, Backend> => ({ SQLite: sqlite(), PostgreSQL: postgres() });
