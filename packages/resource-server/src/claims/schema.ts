import type { Migrations } from "@sotto/database";

/** A payment whose header was presented; swept after the header has expired. */
export interface ClaimRow {
  /** Chain, pool and nullifier: a payment spends exactly one note. */
  id: string;
  digest: string;
  resource: string;
  /** held: a handler runs. free: the handler failed, and another may run. used: a response was sent. */
  state: "held" | "free" | "used";
  /** Number of handlers started. */
  tries: number;
  /** Random id of the claim; only meaningful while `state` is "held". */
  holder: string;
  /** End of the claim's lease, ms: another handler may acquire the payment afterwards. */
  lease_until: number;
  /** When the header becomes too old, ms. */
  expires_at: number;
}

export interface ClaimSchema {
  payment_claim: ClaimRow;
}

export const CLAIM_MIGRATIONS: Migrations = {
  "001_claims": {
    async up(db) {
      await db.schema
        .createTable("payment_claim")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("digest", "text", (column) => column.notNull())
        .addColumn("resource", "text", (column) => column.notNull())
        .addColumn("state", "text", (column) => column.notNull())
        .addColumn("tries", "integer", (column) => column.notNull())
        .addColumn("holder", "text", (column) => column.notNull())
        .addColumn("lease_until", "bigint", (column) => column.notNull())
        .addColumn("expires_at", "bigint", (column) => column.notNull())
        .execute();
      await db.schema.createIndex("payment_claim_expires").on("payment_claim").column("expires_at").execute();
    },
  },
};
