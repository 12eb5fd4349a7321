import type { Db } from "./schema.ts";

/** Where the chain has it. */
export interface Settlement {
  txHash: string;
  blockNumber: number;
  /** Who paid the gas, where that was not the relayer's own transaction. */
  gasPaidBy?: string | null | undefined;
}

/** What the relayer in charge does to operations. */
export function operationWrites(db: Db, clock: () => number) {
  const change = (id: string) => db.updateTable("operations").set({ updated_at: clock() }).where("id", "=", id);
  return {
    /** Nothing can be sent now, whatever it is. */
    async postponed(ids: readonly string[], reason: string, retryAt: number): Promise<void> {
      const set = { reason, retry_at: retryAt, updated_at: clock() };
      await db.updateTable("operations").set(set).where("id", "in", ids).execute();
    },

    /** It is on chain with its confirmations, in this transaction: ours or another's. */
    async settled(id: string, { txHash, blockNumber, gasPaidBy = null }: Settlement): Promise<void> {
      const place = { tx_hash: txHash, block_number: blockNumber, gas_paid_by: gasPaidBy };
      await change(id)
        .set({ state: "settled", reason: null, ...place })
        .execute();
    },

    /** Nothing of it can land any more; its notes are free. */
    async ended(id: string, state: "failed" | "expired", reason: string): Promise<void> {
      await change(id).set({ state, reason, tx_hash: null, block_number: null }).execute();
      await db.deleteFrom("claims").where("holder", "=", id).execute();
    },

    /**
     * It waits again: its transaction did nothing of it.
     * @param reverts if given, as `deferred` has it
     */
    async requeue(id: string, reason: string | null, retryAt: number, reverts?: number): Promise<void> {
      await change(id).set({ state: "queued", transaction_id: null, reason, retry_at: retryAt, reverts }).execute();
    },

    /** Why it is kept back. `reverts`: simulations that reverted in a row. */
    async deferred(id: string, reason: string, reverts: number, retryAt: number): Promise<void> {
      await change(id).set({ reason, reverts, retry_at: retryAt }).execute();
    },

    /** A reorganisation took these blocks: what was settled in them is under way again. */
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
        // What was forgotten is older than any reorganisation: only a local chain that began anew comes here with it.
        .where("call", "<>", "null")
        .where("block_number", ">", after)
        .returning("id")
        .execute();
      return rows.map(({ id }) => id);
    },

    /** The chain is another one (a local node that was started again): no transaction of the old one exists. */
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

    /** Transactions mined in blocks that are gone. */
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
