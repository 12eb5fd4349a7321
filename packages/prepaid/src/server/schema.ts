import type { Migrations } from "@sotto/database";
import { sql } from "kysely";

/** A spent token. Deleted after its key was closed. */
export interface TokenRow {
  key_id: string;
  /** base64url, 43 characters. */
  nonce: string;
  /** Unique id of the order that spent it. */
  holder: string;
  /** Digest of the method and target that may spend it again; null while it is spent. */
  returned_for: string | null;
  /** How often it was returned. */
  returns: number;
}

/** A pack that was signed: replays get the stored signatures. Deleted after its key was closed. */
export interface PackRow {
  key_id: string;
  /** SHA-256 of the blinded messages, hex with 0x. */
  batch: string;
  count: number;
  /** Digest of the payment that was shown first. */
  payment: string;
  signatures: Uint8Array;
}

/** A key that is closed for good. Rows stay forever. */
export interface ClosedRow {
  key_id: string;
  /** ended: after its second epoch. restored: the store came from a backup. operator: `prepaid.closedBefore`. */
  reason: "ended" | "restored" | "operator";
  /** ms. */
  closed_at: number;
}

/** One row: which store this is, and how far it has come. See guard.ts. */
export interface ProgressRow {
  id: number;
  store: string;
  ticks: number;
}

/** What a token paid for at a metered route. Kept until the tokens of its change are no longer accepted. */
export interface MeteredRow {
  key_id: string;
  /** base64url, 43 characters. */
  nonce: string;
  /** Value of the token, base units, decimal. */
  cap: string;
  /** The rule as JSON. */
  rule: string;
  method: string;
  target: string;
  /** The month in which the token was spent: its receipt key signs. */
  epoch: string;
  /** The month whose keys sign the change. */
  change_epoch: string;
  /** charged: units and charge are final. */
  state: "running" | "charged";
  /** ms, by the database's clock: from then on the last checkpoint is final. */
  deadline: number;
  /** Counts by name as JSON. */
  units: string;
  /** Base units, decimal. */
  charge: string;
  /** SHA-256 of the first batch of blinded messages, hex with 0x; null until change is claimed. */
  batch: string | null;
  signatures: Uint8Array | null;
  /** The signed receipt as JSON; null until it is asked for. */
  receipt: string | null;
  /** Unique id of the spender's batch that spent the token. */
  holder: string;
}

/** A swap that was signed: replays get the stored signatures. Deleted after the key of the new tokens was closed. */
export interface SwapRow {
  /** See `swapHash`, hex with 0x. */
  hash: string;
  /** The key of the new tokens. */
  key_id: string;
  /** Number of new tokens. */
  count: number;
  /** The keys of the spent tokens, as a JSON array. */
  spent: string;
  signatures: Uint8Array;
}

export interface PrepaidSchema {
  prepaid_metered: MeteredRow;
  prepaid_swap: SwapRow;
  prepaid_token: TokenRow;
  prepaid_pack: PackRow;
  prepaid_closed: ClosedRow;
  prepaid_progress: ProgressRow;
}

export const PREPAID_MIGRATIONS: Migrations = {
  "001_prepaid": {
    async up(db) {
      await db.schema
        .createTable("prepaid_token")
        .addColumn("key_id", "text", (column) => column.notNull())
        .addColumn("nonce", "text", (column) => column.notNull())
        .addColumn("holder", "text", (column) => column.notNull())
        .addColumn("returned_for", "text")
        .addColumn("returns", "integer", (column) => column.notNull())
        .addPrimaryKeyConstraint("prepaid_token_key", ["key_id", "nonce"])
        .execute();
      await db.schema
        .createTable("prepaid_pack")
        .addColumn("key_id", "text", (column) => column.notNull())
        .addColumn("batch", "text", (column) => column.notNull())
        .addColumn("count", "integer", (column) => column.notNull())
        .addColumn("payment", "text", (column) => column.notNull())
        // SQLite stores bytes as they are in a column of any type.
        .addColumn("signatures", sql`bytea`, (column) => column.notNull())
        .addPrimaryKeyConstraint("prepaid_pack_key", ["key_id", "batch"])
        .execute();
      await db.schema
        .createTable("prepaid_closed")
        .addColumn("key_id", "text", (column) => column.primaryKey())
        .addColumn("reason", "text", (column) => column.notNull())
        .addColumn("closed_at", "bigint", (column) => column.notNull())
        .execute();
      await db.schema
        .createTable("prepaid_progress")
        .addColumn("id", "integer", (column) => column.primaryKey())
        .addColumn("store", "text", (column) => column.notNull())
        .addColumn("ticks", "bigint", (column) => column.notNull())
        .execute();
    },
  },
  "002_metered": {
    async up(db) {
      await db.schema
        .createTable("prepaid_metered")
        .addColumn("key_id", "text", (column) => column.notNull())
        .addColumn("nonce", "text", (column) => column.notNull())
        .addColumn("cap", "text", (column) => column.notNull())
        .addColumn("rule", "text", (column) => column.notNull())
        .addColumn("method", "text", (column) => column.notNull())
        .addColumn("target", "text", (column) => column.notNull())
        .addColumn("epoch", "text", (column) => column.notNull())
        .addColumn("change_epoch", "text", (column) => column.notNull())
        .addColumn("state", "text", (column) => column.notNull())
        .addColumn("deadline", "bigint", (column) => column.notNull())
        .addColumn("units", "text", (column) => column.notNull())
        .addColumn("charge", "text", (column) => column.notNull())
        .addColumn("batch", "text")
        .addColumn("signatures", sql`bytea`)
        .addColumn("receipt", "text")
        .addColumn("holder", "text", (column) => column.notNull())
        .addPrimaryKeyConstraint("prepaid_metered_key", ["key_id", "nonce"])
        .execute();
      await db.schema
        .createTable("prepaid_swap")
        .addColumn("hash", "text", (column) => column.primaryKey())
        .addColumn("key_id", "text", (column) => column.notNull())
        .addColumn("count", "integer", (column) => column.notNull())
        .addColumn("spent", "text", (column) => column.notNull())
        .addColumn("signatures", sql`bytea`, (column) => column.notNull())
        .execute();
    },
  },
  "003_metered_sweep": {
    async up(db) {
      await db.schema.createIndex("prepaid_metered_epoch").on("prepaid_metered").column("change_epoch").execute();
      await db.schema.createIndex("prepaid_swap_key").on("prepaid_swap").column("key_id").execute();
    },
  },
};
