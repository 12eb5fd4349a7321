import { openDatabase } from "@sotto/database";
import { EVERY_DATABASE, overDatabases } from "@sotto/test-kit/databases";
import { moveClock } from "@sotto/test-kit/postgres";
import type { Kysely } from "kysely";
import type { PrepaidSchema } from "../../../src/server/schema.ts";
import { NOW } from "./merchant.ts";

/**
 * Runs the same tests over both databases. A store takes the time from PostgreSQL, so its clock is about at NOW.
 * @param tests receive a function that returns the URL of an empty database
 */
export function overStores(title: string, tests: (newUrl: () => Promise<string>) => void): void {
  overDatabases(title, EVERY_DATABASE, (newUrl) =>
    tests(async () => {
      const url = await newUrl();
      if (!url.startsWith("sqlite:")) await moveClock(url, NOW - Date.now());
      return url;
    }),
  );
}

/** Runs statements in the database of a server, beside it. */
export async function inDatabase<T>(url: string, action: (db: Kysely<PrepaidSchema>) => Promise<T>): Promise<T> {
  const database = await openDatabase<PrepaidSchema>({ url, name: "test", migrations: {} });
  try {
    return await action(database.db);
  } finally {
    await database.close();
  }
}
