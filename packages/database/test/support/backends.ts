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

function postgres(): Backend {
  let server: TestPostgres | undefined;
  return {
    start: async () => {
      server = await startPostgres();
    },
    url: () => server!.database(),
    stop: async () => server?.stop(),
  };
}

export const backends = (): Record<string, Backend> => ({ SQLite: sqlite(), PostgreSQL: postgres() });
