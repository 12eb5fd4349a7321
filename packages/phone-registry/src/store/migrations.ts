import type { Migration, Migrations } from "@sotto/database";
import type { Kysely } from "kysely";

const initial: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const table = (name: string) => db.schema.createTable(name);
    const index = (name: string, on: string, column: string) =>
      db.schema.createIndex(name).on(on).column(column).execute();
    await table("phone_mappings")
      .addColumn("id", "text", (c) => c.primaryKey())
      .addColumn("number", "text", (c) => c.notNull())
      // A constraint in the database ensures that a race has one winner.
      .addColumn("slot", "text", (c) => c.notNull().unique())
      .addColumn("index_key", "text", (c) => c.notNull())
      .addColumn("verified", "bigint", (c) => c.notNull())
      .addColumn("version", "bigint", (c) => c.notNull())
      .addColumn("master_key", "text", (c) => c.notNull())
      .addColumn("envelope", "text", (c) => c.notNull())
      .addColumn("sweep_at", "bigint", (c) => c.notNull())
      .execute();
    for (const column of ["number", "index_key", "master_key", "sweep_at"])
      await index(`phone_mappings_${column}`, "phone_mappings", column);
    await table("phone_heads")
      .addColumn("id", "text", (c) => c.primaryKey())
      .addColumn("version", "bigint", (c) => c.notNull())
      .addColumn("master_key", "text", (c) => c.notNull())
      .addColumn("seal", "text", (c) => c.notNull())
      .execute();
    await table("phone_ledger")
      .addColumn("name", "text", (c) => c.primaryKey())
      .addColumn("master_key", "text", (c) => c.notNull())
      .addColumn("envelope", "text", (c) => c.notNull())
      .execute();
    await table("phone_codes")
      .addColumn("mapping_id", "text", (c) => c.primaryKey())
      .addColumn("index_key", "text", (c) => c.notNull())
      .addColumn("hash", "text", (c) => c.notNull())
      .addColumn("tries", "bigint", (c) => c.notNull())
      .addColumn("expires_at", "bigint", (c) => c.notNull())
      .execute();
    await index("phone_codes_expiry", "phone_codes", "expires_at");
    await table("phone_once")
      .addColumn("key", "text", (c) => c.primaryKey())
      .addColumn("index_key", "text", (c) => c.notNull())
      .addColumn("expires_at", "bigint", (c) => c.notNull())
      .execute();
    await index("phone_once_expiry", "phone_once", "expires_at");
    await table("phone_quotas")
      .addColumn("key", "text", (c) => c.primaryKey())
      .addColumn("index_key", "text", (c) => c.notNull())
      .addColumn("used", "bigint", (c) => c.notNull())
      .addColumn("ends_at", "bigint", (c) => c.notNull())
      .execute();
    await index("phone_quotas_end", "phone_quotas", "ends_at");
    await table("phone_audit")
      .addColumn("id", "text", (c) => c.primaryKey())
      .addColumn("at", "bigint", (c) => c.notNull())
      .addColumn("action", "text", (c) => c.notNull())
      .addColumn("outcome", "text", (c) => c.notNull())
      .addColumn("number", "text")
      .addColumn("wallet", "text")
      .addColumn("client", "text")
      .addColumn("index_key", "text", (c) => c.notNull())
      .execute();
    await index("phone_audit_at", "phone_audit", "at");
    await table("phone_keys")
      .addColumn("name", "text", (c) => c.primaryKey())
      .addColumn("fingerprint", "text", (c) => c.notNull())
      .execute();
  },
};

/** In the order of their names. A released migration never changes; later ones correct it. */
export const MIGRATIONS: Migrations = { "0001-initial": initial };
