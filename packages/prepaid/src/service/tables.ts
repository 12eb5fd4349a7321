import type { Migration } from "@sotto/database";
import type { ExtensionTables } from "@sotto/server";
import type { Kysely } from "kysely";

/** A signed schedule that had a new key. */
export interface PrepaidScheduleTable {
  digest: string;
  /** The chain and the pool. */
  deployment: string;
  wallet: string;
  origin: string;
  /** The schedule and its signature, JSON. */
  content: string;
  received_at: number;
}

/** The first key that was pushed for each value and epoch. */
export interface PrepaidKeyTable {
  deployment: string;
  wallet: string;
  origin: string;
  epoch: string;
  /** Base units, decimal. */
  value: string;
  key_id: string;
}

/** Signed terms of metered routes. */
export interface PrepaidTermsTable {
  digest: string;
  /** The chain and the pool. */
  deployment: string;
  wallet: string;
  origin: string;
  /** UTC month. */
  first_epoch: string;
  last_epoch: string;
  /** The terms and their signature, JSON. */
  content: string;
  received_at: number;
}

export interface PrepaidTables {
  prepaid_terms: PrepaidTermsTable;
  prepaid_schedules: PrepaidScheduleTable;
  prepaid_keys: PrepaidKeyTable;
}

/** Adds signed schedules of prepaid keys. The database itself enforces one key for each value and epoch. */
const prepaid: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const owner = ["deployment", "wallet", "origin"] as const;
    await db.schema
      .createTable("prepaid_schedules")
      .addColumn("digest", "text", (c) => c.primaryKey())
      .addColumn("deployment", "text", (c) => c.notNull())
      .addColumn("wallet", "text", (c) => c.notNull())
      .addColumn("origin", "text", (c) => c.notNull())
      .addColumn("content", "text", (c) => c.notNull())
      .addColumn("received_at", "bigint", (c) => c.notNull())
      .execute();
    await db.schema
      .createIndex("prepaid_schedules_owner")
      .on("prepaid_schedules")
      .columns([...owner])
      .execute();
    await db.schema
      .createTable("prepaid_keys")
      .addColumn("deployment", "text", (c) => c.notNull())
      .addColumn("wallet", "text", (c) => c.notNull())
      .addColumn("origin", "text", (c) => c.notNull())
      .addColumn("epoch", "text", (c) => c.notNull())
      .addColumn("value", "text", (c) => c.notNull())
      .addColumn("key_id", "text", (c) => c.notNull())
      .addPrimaryKeyConstraint("prepaid_keys_place", [...owner, "epoch", "value"])
      .addUniqueConstraint("prepaid_keys_id", [...owner, "key_id"])
      .execute();
  },
};

/** Adds signed terms of metered routes. */
const terms: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("prepaid_terms")
      .addColumn("digest", "text", (c) => c.primaryKey())
      .addColumn("deployment", "text", (c) => c.notNull())
      .addColumn("wallet", "text", (c) => c.notNull())
      .addColumn("origin", "text", (c) => c.notNull())
      .addColumn("first_epoch", "text", (c) => c.notNull())
      .addColumn("last_epoch", "text", (c) => c.notNull())
      .addColumn("content", "text", (c) => c.notNull())
      .addColumn("received_at", "bigint", (c) => c.notNull())
      .execute();
    await db.schema
      .createIndex("prepaid_terms_owner")
      .on("prepaid_terms")
      .columns(["deployment", "wallet", "origin", "last_epoch"])
      .execute();
  },
};

/** The name of the first migration is from the time when the service itself had these tables. */
export const TABLES: ExtensionTables = {
  names: ["prepaid_schedules", "prepaid_keys", "prepaid_terms"] satisfies (keyof PrepaidTables)[],
  migrations: { "0005-prepaid": prepaid, "prepaid-0002": terms },
};
