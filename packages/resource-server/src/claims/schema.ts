import type { Migrations } from "@sotto/database";

/** One payment that was shown, until its header is no longer fresh. */
export interface ClaimRow {
  /** chain, pool and nullifier: a payment spends one note, so this is what it is known by. */
  id: string;
  digest: string;
  resource: string;
  /** held: a handler runs. free: it failed, and may run again. used: its answer was given. */
  state: "held" | "free" | "used";
  /** Handlers that were started. */
  tries: number;
  /** Who holds it; of no meaning otherwise. */
  holder: string;
  /** ms: until then nobody else may take what is held. */
  lease_until: number;
  /** ms: from then on the header is too old. */
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
