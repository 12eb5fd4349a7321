import type { Db } from "./schema.ts";

/** The transaction that settled an operation. */
export interface Settlement {
  txHash: string;
  blockNumber: number;
  /** The sender; undefined if the transaction is in the outbox, which knows its sender. */
  gasPaidBy?: string | undefined;
}

/** Changes of operations that only the leading relayer makes. */
export function operationWrites(db: Db, clock: () => number) {
  const change = (id: string) => db.updateTable("operations").set({ updated_at: clock() }).where("id", "=", id);
  return {
    /** Defers operations, because nothing can be sent now. */
    async postponed(ids: readonly string[], reason: string, retryAt: number): Promise<void> {
      const set = { reason, retry_at: retryAt, updated_at: clock() };
      await db.updateTable("operations").set(set).where("id", "in", ids).execute();
    },

    /** Marks it as confirmed in this transaction, which may be another sender's. */
    async settled(id: string, { txHash, blockNumber, gasPaidBy }: Settlement): Promise<void> {
      const gas_paid_by = gasPaidBy ?? (await senderOf(db, txHash));
      const place = { tx_hash: txHash, block_number: blockNumber, gas_paid_by };
      await change(id)
        .set({ state: "settled", reason: null, ...place })
        .execute();
    },

    /** Marks it as failed or expired and releases its notes. */
    async ended(id: string, state: "failed" | "expired", reason: string): Promise<void> {
      await change(id).set({ state, reason, tx_hash: null, block_number: null }).execute();
      await db.deleteFrom("claims").where("holder", "=", id).execute();
    },

    /**
     * Queues it again, because its transaction did not execute it.
     * @param reverts as for `deferred`; unchanged if undefined
     */
    async requeue(id: string, reason: string | null, retryAt: number, reverts?: number): Promise<void> {
      await change(id).set({ state: "queued", transaction_id: null, reason, retry_at: retryAt, reverts }).execute();
    },

    /**
     * Defers it until `retryAt`.
     * @param reverts consecutive blocks on which its simulation reverted
     * @param revertBlock the last of these blocks; if undefined, the stored one stays, unless `reverts` is 0
     */
    async deferred(id: string, reason: string, reverts: number, retryAt: number, revertBlock?: number): Promise<void> {
      const revert_block = reverts === 0 ? null : revertBlock;
      await change(id).set({ reason, reverts, retry_at: retryAt, revert_block }).execute();
    },

    /** Reopens operations that were settled after block `after`, because a reorganization removed those blocks. */
    async unsettle(after: number): Promise<string[]> {
      const rows = await db
        .updateTable("operations")
        .set((eb) => ({
          state: eb.case().when("transaction_id", "is", null).then("queued").else("broadcast").end() as never,
          block_number: null,
          reason: "REORGANISED",
          updated_at: clock(),
        }))
        .where("state", "=", "settled")
        // Operations without their call are older than any reorganization; only a restarted local chain removes their blocks.
        .where("call", "<>", "null")
        .where("block_number", ">", after)
        .returning("id")
        .execute();
      return rows.map(({ id }) => id);
    },

    /** Drops all transactions and queues their operations again, because a restarted local node has a new chain. */
    async resetForNewChain(): Promise<void> {
      const updated_at = clock();
      await db
        .updateTable("transactions")
        .set({ state: "dropped", updated_at })
        .where("state", "<>", "dropped")
        .execute();
      const none = { state: "queued" as const, transaction_id: null, tx_hash: null, updated_at };
      await db.updateTable("operations").set(none).where("state", "=", "broadcast").execute();
    },

    /** Reverts transactions mined after block `after` to sent, because a reorganization removed those blocks. */
    async unmine(after: number): Promise<void> {
      await db
        .updateTable("transactions")
        .set({ state: "sent", block_number: null, block_hash: null, status: null, updated_at: clock() })
        .where("block_number", ">", after)
        .where("state", "in", ["mined", "final"])
        .where("data", "<>", "")
        .execute();
    },
  };
}

/** The account that sent a transaction of the outbox; null for other transactions. */
async function senderOf(db: Db, hash: string): Promise<string | null> {
  const attempts = db.selectFrom("attempts").innerJoin("transactions", "transactions.id", "attempts.transaction_id");
  return (await attempts.select("sender").where("hash", "=", hash).executeTakeFirst())?.sender ?? null;
}
