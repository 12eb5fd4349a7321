import { type Db, type OperationState, PARTS, type Row } from "./schema.ts";

/** A place in the order in which operations came. */
export interface QueuePosition {
  createdAt: number;
  id: string;
}

/** Operations that are not over, as the relayer's rounds ask for them: never more than a round can serve. */
export function openOperations<Operation>(
  db: Db,
  clock: () => number,
  toOperation: (row: Row<"operations">) => Operation,
) {
  const rows = () => db.selectFrom("operations").selectAll();
  return {
    /** Queued payments, oldest first. */
    async queuedPayments(limit: number): Promise<Operation[]> {
      const query = rows().where(PARTS.queuedPayments);
      return (await query.orderBy("created_at").orderBy("id").limit(limit).execute()).map(toOperation);
    },

    /** Those that a transaction carries; there are no more of them than the open transactions hold. */
    async broadcast(): Promise<Operation[]> {
      const query = rows().where(PARTS.broadcastOperations).orderBy("created_at").orderBy("id");
      return (await query.execute()).map(toOperation);
    },

    /**
     * Queued deposits and withdrawals that may be sent now: first those that did not revert so far, and by turns, so
     * that each account has one before any account has its second.
     * @param validUntil seconds: those with an earlier date are left out; @param mostReverts those with as many are, too
     */
    async ready(validUntil: number, mostReverts: number, limit: number): Promise<Operation[]> {
      const query = db
        .selectFrom("operations")
        .select("id")
        .where(PARTS.queuedOthers)
        .where("retry_at", "<=", clock())
        .where("valid_until", ">=", validUntil)
        .where("reverts", "<", mostReverts);
      const ordered = query.orderBy("reverts").orderBy("turn").orderBy("created_at").orderBy("id").limit(limit);
      // The texts of those that are chosen alone: a sort carries all that it sorts.
      const ids = (await ordered.execute()).map(({ id }) => id);
      if (ids.length === 0) return [];
      const found = new Map((await rows().where("id", "in", ids).execute()).map((row) => [row.id, row]));
      return ids.flatMap((id) => found.get(id) ?? []).map(toOperation);
    },

    /** Queued deposits and withdrawals in the order they came, after a place. */
    async queuedOthers(after: QueuePosition | undefined, limit: number): Promise<Operation[]> {
      let query = rows().where(PARTS.queuedOthers);
      if (after !== undefined)
        query = query.where((eb) =>
          eb.or([
            eb("created_at", ">", after.createdAt),
            eb.and([eb("created_at", "=", after.createdAt), eb("id", ">", after.id)]),
          ]),
        );
      return (await query.orderBy("created_at").orderBy("id").limit(limit).execute()).map(toOperation);
    },

    /** How many are in each state that is not over. */
    async counts(): Promise<{ queued: number; broadcast: number }> {
      const query = db.selectFrom("operations").select(["state", db.fn.count<number | string>("id").as("n")]);
      const found = await query.where(PARTS.openOperations).groupBy("state").execute();
      const of = (state: OperationState) => Number(found.find((row) => row.state === state)?.n ?? 0);
      return { queued: of("queued"), broadcast: of("broadcast") };
    },
  };
}
