// The curator's tables: what follows from the chain, and what the curator signed.
import type { Database, LeaseTable, Migrations } from "@sotto/database";
import type { Kysely, Selectable } from "kysely";

/** What identifies the set, and the number of times that blocks were rolled back. */
export interface FactTable {
  name: string;
  value: string;
}

/** Blocks that reveal a reorganization. The newest one is the last block that was read. */
export interface BlockTable {
  number: number;
  hash: string;
  /** Unix time, seconds. */
  timestamp: number;
}

/** The pool's notes. Only deposits have the columns from `amount` on. */
export interface LeafTable {
  leaf: number;
  /** Hex with 0x: it is parsed faster than decimals. */
  commitment: string;
  block_number: number;
  /** Base units, decimal. */
  amount: string | null;
  transaction_hash: string | null;
  log_index: number | null;
  /** Time of the block, seconds. */
  timestamp: number | null;
  /** The account whose tokens moved; null until it is known. */
  depositor: string | null;
}

/** Events that spent notes. */
export interface SpendTable {
  block_number: number;
  log_index: number;
  timestamp: number;
  /** Decimal, separated by commas, without zeros. */
  nullifiers: string;
  /** The first note that it made. */
  leaf: number;
  /** How many notes it made, 0 to 2. */
  outputs: number;
}

export interface AppendTable {
  /** Number of leaves in the tree after it. */
  size: number;
  block_number: number;
}

/** The log of the set. */
export interface EntryTable {
  number: number;
  line: string;
  /** Value of the log's hash chain after it. */
  chain: string;
}

export interface HeadTable {
  number: number;
  /** Unix time, seconds. No two heads have one slot. */
  time: number;
  block_number: number;
  /** 0 once a reorganization removed the block. */
  on_chain: number;
  entries: number;
  /** The head and its signature as JSON. */
  content: string;
}

export interface PolicyTable {
  hash: string;
  content: string;
}

/** Judgements of a person. */
export interface VerdictTable {
  leaf: number;
  verdict: "accept" | "refuse";
  /** 1 once the leader has acted on it. */
  handled: number;
}

export interface Schema {
  origin_facts: FactTable;
  origin_leases: LeaseTable;
  origin_blocks: BlockTable;
  origin_leaves: LeafTable;
  origin_spends: SpendTable;
  origin_appends: AppendTable;
  origin_entries: EntryTable;
  origin_heads: HeadTable;
  origin_policies: PolicyTable;
  origin_verdicts: VerdictTable;
}

export type CuratorDatabase = Database<Schema>;
/** A connection or a transaction. */
export type Db = Kysely<Schema>;
export type Row<T extends keyof Schema> = Selectable<Schema[T]>;

export const MIGRATIONS: Migrations = {
  "0001-curator": {
    async up(db: Kysely<unknown>): Promise<void> {
      const table = (name: string) => db.schema.createTable(name);
      await table("origin_facts")
        .addColumn("name", "text", (c) => c.primaryKey())
        .addColumn("value", "text", (c) => c.notNull())
        .execute();
      await table("origin_leases")
        .addColumn("name", "text", (c) => c.primaryKey())
        .addColumn("holder", "text", (c) => c.notNull())
        .addColumn("token", "bigint", (c) => c.notNull())
        .addColumn("expires_at", "bigint", (c) => c.notNull())
        .execute();
      await table("origin_blocks")
        .addColumn("number", "bigint", (c) => c.primaryKey())
        .addColumn("hash", "text", (c) => c.notNull())
        .addColumn("timestamp", "bigint", (c) => c.notNull())
        .execute();
      await table("origin_leaves")
        .addColumn("leaf", "bigint", (c) => c.primaryKey())
        .addColumn("commitment", "text", (c) => c.notNull())
        .addColumn("block_number", "bigint", (c) => c.notNull())
        .addColumn("amount", "text")
        .addColumn("transaction_hash", "text")
        .addColumn("log_index", "bigint")
        .addColumn("timestamp", "bigint")
        .addColumn("depositor", "text")
        .execute();
      await table("origin_spends")
        .addColumn("block_number", "bigint", (c) => c.notNull())
        .addColumn("log_index", "bigint", (c) => c.notNull())
        .addColumn("timestamp", "bigint", (c) => c.notNull())
        .addColumn("nullifiers", "text", (c) => c.notNull())
        .addColumn("leaf", "bigint", (c) => c.notNull())
        .addColumn("outputs", "bigint", (c) => c.notNull())
        .addPrimaryKeyConstraint("origin_spends_place", ["block_number", "log_index"])
        .execute();
      await table("origin_appends")
        .addColumn("size", "bigint", (c) => c.primaryKey())
        .addColumn("block_number", "bigint", (c) => c.notNull())
        .execute();
      await table("origin_entries")
        .addColumn("number", "bigint", (c) => c.primaryKey())
        .addColumn("line", "text", (c) => c.notNull())
        .addColumn("chain", "text", (c) => c.notNull())
        .execute();
      // The database itself refuses a second head of a number or a slot.
      await table("origin_heads")
        .addColumn("number", "bigint", (c) => c.primaryKey())
        .addColumn("time", "bigint", (c) => c.notNull().unique())
        .addColumn("block_number", "bigint", (c) => c.notNull())
        .addColumn("on_chain", "bigint", (c) => c.notNull())
        .addColumn("entries", "bigint", (c) => c.notNull())
        .addColumn("content", "text", (c) => c.notNull())
        .execute();
      await table("origin_policies")
        .addColumn("hash", "text", (c) => c.primaryKey())
        .addColumn("content", "text", (c) => c.notNull())
        .execute();
      await table("origin_verdicts")
        .addColumn("leaf", "bigint", (c) => c.primaryKey())
        .addColumn("verdict", "text", (c) => c.notNull())
        .addColumn("handled", "bigint", (c) => c.notNull())
        .execute();
      await db.schema.createIndex("origin_leaves_block").on("origin_leaves").column("block_number").execute();
      await db.schema.createIndex("origin_verdicts_handled").on("origin_verdicts").column("handled").execute();
    },
  },
};
