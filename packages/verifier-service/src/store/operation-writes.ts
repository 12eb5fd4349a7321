import type { Db } from "./schema.ts";

/** The transaction that settled an operation. */
export interface Settlement {
  txHash: string;
  blockNumber: number;
  /** The sender, if the transaction is not the relayer's. */
  gasPaidBy?: string | null | undefined;
}

/** Changes of operations that only the leading relayer makes. */
export function operationWrites(db: Db, clock: () => number) {
  const change = (id: string) => db.updateTable("operations").set({ updated_at: clock() }).where("id", "=", id);
  return {
    /** Nothing can be sent at the moment. */
    async postponed(ids: readonly string[], reason: string, retryAt: number): Promise<void> {
      const set = { reason, retry_at: retryAt, updated_at: clock() };
      await db.updateTable("operations").set(set).where("id", "in", ids).execute();
    },

    /** It is confirmed in this transaction, which may be another sender's. */
    async settled(id: string, { txHash, blockNumber, gasPaidBy = null }: Settlement): Promise<void> {
      const place = { tx_hash: txHash, block_number: blockNumber, gas_paid_by: gasPaidBy };
      await change(id)
        .set({ state: "settled", reason: null, ...place })
        .execute();
    },

    /** It can no longer succeed, so its notes are released. */
    async ended(id: string, state: "failed" | "expired", reason: string): Promise<void> {
      await change(id).set({ state, reason, tx_hash: null, block_number: null }).execute();
      await db.deleteFrom("claims").where("holder", "=", id).execute();
    },

    /**
     * It is queued again, because its transaction did not execute it.
     * @param reverts as for `deferred`; unchanged if undefined
     */
    async requeue(id: string, reason: string | null, retryAt: number, reverts?: number): Promise<void> {
      await change(id).set({ state: "queued", transaction_id: null, reason, retry_at: retryAt, reverts }).execute();
    },

    /** It is not sent before `retryAt`. @param reverts consecutive simulations that reverted */
    async deferred(id: string, reason: string, reverts: number, retryAt: number): Promise<void> {
      await change(id).set({ reason, reverts, retry_at: retryAt }).execute();
    },

    /** A reorganisation removed the blocks after `after`: operations that were settled in them are open again. */
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
        // Operations without their call are older than any reorganisation; only a restarted local chain removes their blocks.
        .where("call", "<>", "null")
        .where("block_number", ">", after)
        .returning("id")
        .execute();
      return rows.map(({ id }) => id);
    },

    /** The chain is a new one (a local node was restarted): no transaction of the old chain exists. */
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

    /** A reorganisation removed the blocks after `after`, and the transactions in them. */
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
