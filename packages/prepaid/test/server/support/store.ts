import { openDatabase } from "@sotto/database";
import type { Kysely } from "kysely";
import type { PrepaidSchema } from "../../../src/server/schema.ts";

/** Runs statements in the database of a server, beside it. */
export async function inDatabase<T>(url: string, action: (db: Kysely<PrepaidSchema>) => Promise<T>): Promise<T> {
  const database = await openDatabase<PrepaidSchema>({ url, name: "test", migrations: {} });
  try {
    return await action(database.db);
  } finally {
    await database.close();
  }
}
