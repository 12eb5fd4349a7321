// Access to the database without keys, as an attacker may have it.
import { existsSync, readFileSync } from "node:fs";
import { type Database, openDatabase } from "@sotto/database";
import { type RawBuilder, sql } from "kysely";
import type { Schema } from "../../src/store/schema.ts";

export interface RawDatabase {
  readonly db: Database<Schema>["db"];
  run(statement: RawBuilder<unknown>): Promise<void>;
  /** Every value of every table as text, with its column. */
  dump(): Promise<{ table: string; column: string; text: string; numeric: boolean }[]>;
  close(): Promise<void>;
}

export async function openRaw(url: string): Promise<RawDatabase> {
  const database = await openDatabase<Schema>({ url, name: "raw", migrations: {} });
  const { db } = database;
  return {
    db,
    async run(statement) {
      await statement.execute(db);
    },
    async dump() {
      const values = [];
      for (const { name } of await db.introspection.getTables()) {
        const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(name)}`.execute(db);
        for (const row of rows)
          for (const [column, value] of Object.entries(row))
            if (value !== null)
              values.push({ table: name, column, text: String(value), numeric: typeof value === "number" });
      }
      return values;
    },
    close: () => database.close(),
  };
}

/** The bytes of an SQLite database and its log, which may contain deleted rows; empty for other databases. */
export function fileBytes(url: string): string {
  if (!url.startsWith("sqlite:")) return "";
  const path = url.slice("sqlite:".length);
  const files = [path, `${path}-wal`].filter((file) => existsSync(file));
  return files.map((file) => readFileSync(file).toString("latin1")).join("\n");
}
