import type { Migration } from "@sotto/database";
import type { ExtensionTables } from "@sotto/server";
import type { Kysely } from "kysely";

/** A signed head: the first of its number and of its slot that this service read. */
export interface OriginHeadTable {
  /** Chain, pool, curator and name. */
  set_id: string;
  number: number;
  /** Seconds. */
  time: number;
  digest: string;
  /** The head and its signature, JSON. */
  content: string;
  /** Ms. */
  received_at: number;
}

export interface OriginTables {
  origin_heads: OriginHeadTable;
}

/** Adds signed heads. The database itself enforces one head for each number and slot. */
const heads: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("origin_heads")
      .addColumn("set_id", "text", (c) => c.notNull())
      .addColumn("number", "bigint", (c) => c.notNull())
      .addColumn("time", "bigint", (c) => c.notNull())
      .addColumn("digest", "text", (c) => c.notNull())
      .addColumn("content", "text", (c) => c.notNull())
      .addColumn("received_at", "bigint", (c) => c.notNull())
      .addPrimaryKeyConstraint("origin_heads_number", ["set_id", "number"])
      .addUniqueConstraint("origin_heads_slot", ["set_id", "time"])
      .execute();
  },
};

export const TABLES: ExtensionTables = {
  names: ["origin_heads"] satisfies (keyof OriginTables)[],
  migrations: { "origins-0001": heads },
};
