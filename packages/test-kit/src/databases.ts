// Runs the same tests on SQLite and PostgreSQL.

import { join } from "node:path";
import { startPostgres, type TestPostgres } from "./postgres.ts";
import { slow } from "./slow.ts";
import { temporaryFolder } from "./temporary-folder.ts";

interface Backend {
  start(): Promise<void>;
  /** URL of an empty database. */
  url(): Promise<string>;
  stop(): Promise<void>;
}

function sqlite(): Backend {
  let folder = "";
  let count = 0;
  return {
    start: async () => {
      folder = temporaryFolder("database");
    },
    url: async () => `sqlite:${join(folder, "new", `${++count}.db`)}`,
    stop: async () => undefined,
  };
}

/** All suites of a run share one server. Each suite gets an empty database. */
let shared: Promise<TestPostgres> | undefined;
after(async function () {
  slow(this, "a database server writes what it has before it stops");
  // If it did not start, the hooks that needed it have failed.
  await (await shared?.catch(() => undefined))?.stop();
});

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

const DATABASES = { SQLite: sqlite, PostgreSQL: postgres };

export type DatabaseName = keyof typeof DATABASES;
export const EVERY_DATABASE: readonly DatabaseName[] = ["SQLite", "PostgreSQL"];

/**
 * Runs the same tests on several databases.
 * @param tests receive a function that returns the URL of an empty database
 */
export function overDatabases(
  title: string,
  names: readonly DatabaseName[],
  tests: (newUrl: () => Promise<string>) => void,
): void {
  for (const name of names)
    describe(`${title} over ${name}`, function () {
      slow(this, "a database server starts, and writes to disk");
      const backend = DATABASES[name]();
      before(async () => {
        await backend.start();
      });
      after(() => backend.stop());
      tests(backend.url);
    });
}
