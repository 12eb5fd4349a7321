import type { Migration, Migrations } from "@sotto/database";
import { type Kysely, sql } from "kysely";

/** `bigint` has 64 bits in both databases; larger numbers are `text`. */
const initial: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const table = (name: string) => db.schema.createTable(name);
    await table("reservations")
      .addColumn("id", "text", (c) => c.primaryKey())
      .addColumn("nullifier", "text", (c) => c.notNull())
      .addColumn("digest", "text", (c) => c.notNull())
      .addColumn("bundle", "text", (c) => c.notNull())
      .addColumn("recipient", "text", (c) => c.notNull())
      .addColumn("client", "text", (c) => c.notNull())
      .addColumn("expires_at", "bigint", (c) => c.notNull())
      .addColumn("valid_until", "bigint", (c) => c.notNull())
      .addColumn("created_at", "bigint", (c) => c.notNull())
      .execute();
    await db.schema.createIndex("reservations_expiry").on("reservations").column("expires_at").execute();
    await table("claims")
      .addColumn("nullifier", "text", (c) => c.primaryKey())
      .addColumn("holder", "text", (c) => c.notNull())
      .addColumn("digest", "text", (c) => c.notNull())
      .addColumn("queued", "bigint", (c) => c.notNull())
      .addColumn("expires_at", "bigint", (c) => c.notNull())
      .execute();
    await db.schema.createIndex("claims_holder").on("claims").column("holder").execute();
    await sql`create index claims_expiry on claims (expires_at) where queued = 0`.execute(db);
    await table("operations")
      .addColumn("id", "text", (c) => c.primaryKey())
      .addColumn("kind", "text", (c) => c.notNull())
      .addColumn("digest", "text", (c) => c.notNull())
      .addColumn("nullifiers", "text", (c) => c.notNull())
      .addColumn("call", "text", (c) => c.notNull())
      .addColumn("client", "text", (c) => c.notNull())
      .addColumn("valid_until", "bigint", (c) => c.notNull())
      .addColumn("state", "text", (c) => c.notNull())
      .addColumn("transaction_id", "text")
      .addColumn("tx_hash", "text")
      .addColumn("block_number", "bigint")
      .addColumn("gas_paid_by", "text")
      .addColumn("reason", "text")
      .addColumn("reverts", "bigint", (c) => c.notNull())
      .addColumn("retry_at", "bigint", (c) => c.notNull())
      .addColumn("created_at", "bigint", (c) => c.notNull())
      .addColumn("updated_at", "bigint", (c) => c.notNull())
      .execute();
    await db.schema.createIndex("operations_digest").on("operations").columns(["kind", "digest"]).execute();
    await db.schema.createIndex("operations_transaction").on("operations").column("transaction_id").execute();
    await db.schema.createIndex("operations_block").on("operations").column("block_number").execute();
    await sql`create index operations_open on operations (created_at, id) where state in ('queued', 'broadcast')`.execute(
      db,
    );
    const over = sql`state in ('settled', 'failed', 'expired') and call <> 'null'`;
    await sql`create index operations_over on operations (updated_at) where ${over}`.execute(db);
    await table("transactions")
      .addColumn("id", "text", (c) => c.primaryKey())
      .addColumn("kind", "text", (c) => c.notNull())
      .addColumn("sender", "text", (c) => c.notNull())
      .addColumn("nonce", "bigint", (c) => c.notNull())
      .addColumn("state", "text", (c) => c.notNull())
      .addColumn("to", "text", (c) => c.notNull())
      .addColumn("data", "text", (c) => c.notNull())
      .addColumn("gas_limit", "text", (c) => c.notNull())
      .addColumn("cost", "text", (c) => c.notNull())
      .addColumn("day", "text", (c) => c.notNull())
      .addColumn("block_number", "bigint")
      .addColumn("block_hash", "text")
      .addColumn("status", "bigint")
      .addColumn("created_at", "bigint", (c) => c.notNull())
      .addColumn("updated_at", "bigint", (c) => c.notNull())
      .execute();
    // The database itself enforces that two live transactions never share a nonce.
    await sql`create unique index transactions_nonce on transactions (sender, nonce) where state <> 'dropped'`.execute(
      db,
    );
    await sql`create index transactions_open on transactions (nonce) where state in ('sent', 'mined')`.execute(db);
    const done = sql`state in ('final', 'dropped') and data <> ''`;
    await sql`create index transactions_over on transactions (updated_at) where ${done}`.execute(db);
    await db.schema.createIndex("transactions_block").on("transactions").column("block_number").execute();
    await table("attempts")
      .addColumn("hash", "text", (c) => c.primaryKey())
      .addColumn("transaction_id", "text", (c) => c.notNull().references("transactions.id"))
      .addColumn("raw", "text", (c) => c.notNull())
      .addColumn("max_fee", "text", (c) => c.notNull())
      .addColumn("max_priority", "text", (c) => c.notNull())
      .addColumn("created_at", "bigint", (c) => c.notNull())
      .addColumn("sent_at", "bigint")
      .execute();
    await db.schema.createIndex("attempts_transaction").on("attempts").column("transaction_id").execute();
    await table("leases")
      .addColumn("name", "text", (c) => c.primaryKey())
      .addColumn("holder", "text", (c) => c.notNull())
      .addColumn("token", "bigint", (c) => c.notNull())
      .addColumn("expires_at", "bigint", (c) => c.notNull())
      .execute();
    await createLedger(db);
    await table("quotas")
      .addColumn("key", "text", (c) => c.notNull())
      .addColumn("window_start", "bigint", (c) => c.notNull())
      .addColumn("used", "bigint", (c) => c.notNull())
      .addPrimaryKeyConstraint("quotas_key", ["key", "window_start"])
      .execute();
    await table("gas_days")
      .addColumn("day", "text", (c) => c.primaryKey())
      .addColumn("wei", "text", (c) => c.notNull())
      .execute();
  },
};

/** The tables of the pool's events. */
async function createLedger(db: Kysely<unknown>): Promise<void> {
  const table = (name: string) => db.schema.createTable(name);
  await table("blocks")
    .addColumn("number", "bigint", (c) => c.primaryKey())
    .addColumn("hash", "text", (c) => c.notNull())
    .addColumn("timestamp", "bigint", (c) => c.notNull())
    .execute();
  await table("leaves")
    .addColumn("leaf_index", "bigint", (c) => c.primaryKey())
    .addColumn("commitment", "text", (c) => c.notNull())
    .addColumn("block_number", "bigint", (c) => c.notNull())
    .execute();
  await table("appends")
    .addColumn("size", "bigint", (c) => c.primaryKey())
    .addColumn("root", "text", (c) => c.notNull())
    .addColumn("block_number", "bigint", (c) => c.notNull())
    .execute();
  await table("spends")
    .addColumn("nullifier", "text", (c) => c.primaryKey())
    .addColumn("digest", "text", (c) => c.notNull())
    .addColumn("tx_hash", "text", (c) => c.notNull())
    .addColumn("block_number", "bigint", (c) => c.notNull())
    .execute();
  for (const name of ["leaves", "appends", "spends"])
    await db.schema.createIndex(`${name}_block`).on(name).column("block_number").execute();
}

/** Adds turns per account, amounts of deposits, and quotas for resends. */
const turns: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // SQLite adds one column at a time.
    const add = (name: string, type: "text" | "bigint", value: string | number) =>
      db.schema
        .alterTable("operations")
        .addColumn(name, type, (c) => c.notNull().defaultTo(value))
        .execute();
    await add("account", "text", "");
    await add("amount", "text", "0");
    await add("quotas", "text", "[]");
    await add("sendings", "bigint", 0);
    await add("turn", "bigint", 0);
    const index = (name: string, columns: string, rows: string) =>
      sql`create index ${sql.ref(name)} on operations (${sql.raw(columns)}) where ${sql.raw(rows)}`.execute(db);
    await index("operations_broadcast", "created_at, id", "state = 'broadcast'");
    await index("operations_payments", "created_at, id", "state = 'queued' and kind = 'payment'");
    await index("operations_queued", "created_at, id", "state = 'queued' and kind <> 'payment'");
    await index("operations_turn", "turn", "sendings > 0 and kind <> 'payment'");
    await index("operations_account", "account, turn", "state in ('queued', 'broadcast') and kind <> 'payment'");
  },
};

/** Adds the time of the leading relayer's last completed round, which every replica's readiness check reads. */
const rounds: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const table = db.schema.createTable("rounds").addColumn("name", "text", (c) => c.primaryKey());
    await table.addColumn("ended_at", "bigint", (c) => c.notNull()).execute();
    const attempts = db.schema.alterTable("attempts");
    await attempts.addColumn("data_fee", "text", (c) => c.notNull().defaultTo("0")).execute();
  },
};

/** Adds the catalog of resources for discovery. */
const listings: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("listings")
      .addColumn("url", "text", (c) => c.notNull())
      .addColumn("method", "text", (c) => c.notNull())
      .addColumn("host", "text", (c) => c.notNull())
      .addColumn("item", "text", (c) => c.notNull())
      .addColumn("pay_to", "text", (c) => c.notNull())
      .addColumn("due_at", "bigint", (c) => c.notNull())
      .addColumn("expires_at", "bigint", (c) => c.notNull())
      .addPrimaryKeyConstraint("listings_key", ["url", "method"])
      .execute();
    for (const column of ["host", "pay_to", "due_at", "expires_at"])
      await db.schema.createIndex(`listings_${column}`).on("listings").column(column).execute();
  },
};

/** Adds an index of roots, and the block of an operation's last simulation that reverted. */
const roots: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema.createIndex("appends_root").on("appends").column("root").execute();
    await db.schema.alterTable("operations").addColumn("revert_block", "bigint").execute();
  },
};

/** Adds the traces of payments, so that a restart does not end them. */
const traces: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const table of ["reservations", "operations"])
      await db.schema.alterTable(table).addColumn("trace", "text").execute();
  },
};

/** Adds the counts of requests that replicas share. */
const rates: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("rates")
      .addColumn("window_start", "bigint", (c) => c.notNull())
      .addColumn("network", "text", (c) => c.notNull())
      .addColumn("replica", "text", (c) => c.notNull())
      .addColumn("used", "bigint", (c) => c.notNull())
      .addPrimaryKeyConstraint("rates_key", ["window_start", "network", "replica"])
      .execute();
  },
};

/**
 * In the order of their names. A released migration never changes; later ones correct it. 0005 belongs to an extension that was
 * once a part of the service.
 */
export const MIGRATIONS: Migrations = {
  "0001-initial": initial,
  "0002-turns": turns,
  "0003-rounds": rounds,
  "0004-listings": listings,
  "0006-roots": roots,
  "0007-traces": traces,
  "0008-rates": rates,
};
