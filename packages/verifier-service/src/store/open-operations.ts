import { type Db, type OperationKind, type OperationState, PARTS, type Row } from "./schema.ts";

/** A position in the order in which operations were queued. */
export interface QueuePosition {
  createdAt: number;
  id: string;
}

/** The open operations of one kind and state. */
export interface OpenOperations {
  readonly kind: OperationKind;
  readonly state: OperationState;
  readonly count: number;
  /** When the oldest was queued, ms. */
  readonly oldest: number;
}

/** Reads open operations for the relayer's rounds, never more than a round can handle. */
export function openOperations<Operation>(
  db: Db,
  clock: () => number,
  toOperation: (row: Row<"operations">) => Operation,
) {
  const rows = () => db.selectFrom("operations").selectAll();
  /** The open operations by kind and state, without those that have none. */
  const open = async (): Promise<OpenOperations[]> => {
    const count = db.fn.count<number | string>("id").as("n");
    const query = db.selectFrom("operations").select(["kind", "state", count, db.fn.min("created_at").as("oldest")]);
    const found = await query.where(PARTS.openOperations).groupBy(["kind", "state"]).execute();
    return found.map(({ kind, state, n, oldest }) => ({ kind, state, count: Number(n), oldest: Number(oldest) }));
  };
  return {
    /** Queued payments, oldest first. */
    async queuedPayments(limit: number): Promise<Operation[]> {
      const query = rows().where(PARTS.queuedPayments);
      return (await query.orderBy("created_at").orderBy("id").limit(limit).execute()).map(toOperation);
    },

    /** Operations in a transaction; their number is bounded by the limit on open transactions. */
    async broadcast(): Promise<Operation[]> {
      const query = rows().where(PARTS.broadcastOperations).orderBy("created_at").orderBy("id");
      return (await query.execute()).map(toOperation);
    },

    /**
     * Queued deposits and withdrawals that may be sent now: those with the fewest reverts first, then by turn, so that every
     * account is served once before any account is served twice.
     * @param validUntil seconds; earlier deadlines are left out
     * @param maxReverts operations with this many reverts are left out
     */
    async ready(validUntil: number, maxReverts: number, limit: number): Promise<Operation[]> {
      const query = db
        .selectFrom("operations")
        .select("id")
        .where(PARTS.queuedOthers)
        .where("retry_at", "<=", clock())
        .where("valid_until", ">=", validUntil)
        .where("reverts", "<", maxReverts);
      const ordered = query.orderBy("reverts").orderBy("turn").orderBy("created_at").orderBy("id").limit(limit);
      // Loads the texts in a second query, because the first query would sort them too.
      const ids = (await ordered.execute()).map(({ id }) => id);
      if (ids.length === 0) return [];
      const found = new Map((await rows().where("id", "in", ids).execute()).map((row) => [row.id, row]));
      return ids.flatMap((id) => found.get(id) ?? []).map(toOperation);
    },

    /** Queued deposits and withdrawals after a position, oldest first. */
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

    open,

    /** Open operations by state. */
    async counts(): Promise<{ queued: number; broadcast: number }> {
      const found = await open();
      const of = (state: OperationState) =>
        found.filter((some) => some.state === state).reduce((sum, { count }) => sum + count, 0);
      return { queued: of("queued"), broadcast: of("broadcast") };
    },
  };
}
