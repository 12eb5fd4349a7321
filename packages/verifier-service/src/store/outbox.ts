import { chargeGas } from "./gas.ts";
import { chargeUses, type Exceeded, type Quota, takeUses } from "./quotas.ts";
import { type Db, PARTS, type Row, type TransactionKind, type TransactionState } from "./schema.ts";

/** A signed form of a transaction. Wei. */
export interface Attempt {
  hash: string;
  raw: string;
  maxFee: bigint;
  maxPriority: bigint;
  /** For its data on the chain below, where there is one. */
  dataFee: bigint;
  createdAt: number;
  /** When a node last took it. */
  sentAt: number | undefined;
}

/** A transaction of the relayer: one nonce, one or more signed forms. */
export interface OutboxTransaction {
  id: string;
  kind: TransactionKind;
  sender: string;
  nonce: number;
  state: TransactionState;
  to: string;
  data: string;
  gasLimit: bigint;
  /** Wei, at most. */
  cost: bigint;
  blockNumber: number | undefined;
  blockHash: string | undefined;
  /** Whether it was executed; undefined before it is mined. */
  succeeded: boolean | undefined;
  createdAt: number;
  /** Oldest first. */
  attempts: readonly Attempt[];
}

export type NewAttempt = Pick<Attempt, "hash" | "raw" | "maxFee" | "maxPriority"> & { dataFee?: bigint };

export interface NewTransaction {
  id: string;
  kind: TransactionKind;
  sender: string;
  nonce: number;
  to: string;
  data: string;
  gasLimit: bigint;
  /** Day (UTC, YYYY-MM-DD) the cost counts for. */
  day: string;
}

export function outboxReads(db: Db) {
  return {
    /** Those that are not final, by nonce. */
    open: () => load(db),
    get: async (id: string): Promise<OutboxTransaction | undefined> => (await load(db, id))[0],
    /** Every live nonce from `from` on: final ones count, a node may be behind. */
    async nonces(sender: string, from: number): Promise<Set<number>> {
      const query = db
        .selectFrom("transactions")
        .select("nonce")
        .where("sender", "=", sender)
        .where("nonce", ">=", from);
      return new Set((await query.where(PARTS.liveTransactions).execute()).map(({ nonce }) => nonce));
    },
  };
}

export function outboxWrites(db: Db, clock: () => number) {
  const change = (id: string, values: Partial<Row<"transactions">>) =>
    db
      .updateTable("transactions")
      .set({ ...values, updated_at: clock() })
      .where("id", "=", id)
      .execute();
  const operationsOf = (id: string) =>
    db.updateTable("operations").where("transaction_id", "=", id).where("state", "=", "broadcast");
  const quotasOfRepeated = async (ids: readonly string[]): Promise<Quota[]> => {
    if (ids.length === 0) return [];
    const sent = db.selectFrom("operations").select("quotas").where("sendings", ">", 0).where("id", "in", ids);
    return quotasIn(await sent.execute());
  };
  /** Each time the cost of a transaction has doubled, it counts like another one. */
  const chargeDoublings = async (id: string, gasLimit: bigint, from: bigint, to: bigint) => {
    const fees = await db.selectFrom("attempts").select("max_fee").where("transaction_id", "=", id).execute();
    const [first] = fees.map(({ max_fee }) => gasLimit * BigInt(max_fee)).sort((a, b) => (a < b ? -1 : 1));
    const times = doublings(first!, to) - doublings(first!, from);
    if (times <= 0) return;
    const carried = db.selectFrom("operations").select("quotas").where("transaction_id", "=", id);
    const quotas = quotasIn(await carried.execute());
    for (let i = 0; i < times; i += 1) await chargeUses(db, quotas, clock());
  };
  const insertAttempt = ({ hash, raw, maxFee, maxPriority, dataFee = 0n }: NewAttempt, transaction_id: string) =>
    db
      .insertInto("attempts")
      .values({
        hash,
        transaction_id,
        raw,
        max_fee: String(maxFee),
        max_priority: String(maxPriority),
        data_fee: String(dataFee),
        created_at: clock(),
      })
      .execute();
  /** What the transaction may cost, or did: the day's account follows. */
  const setCost = async (id: string, cost: bigint) => {
    const row = await db
      .selectFrom("transactions")
      .select(["cost", "day"])
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    await chargeGas(db, row.day, cost - BigInt(row.cost));
    await change(id, { cost: String(cost) });
  };
  return {
    /**
     * Before anything is sent: the transaction, its first signed form, and that these operations are in it. An operation
     * that was sent before counts for its quotas once more.
     * @returns the quota that a deposit or withdrawal has used up, and then nothing is recorded
     */
    async record(
      next: NewTransaction,
      attempt: NewAttempt,
      operationIds: readonly string[],
    ): Promise<Exceeded | undefined> {
      const now = clock();
      const repeated = await quotasOfRepeated(operationIds);
      // A payment that was accepted is settled: what it costs more is not there for the next ones.
      if (next.kind === "settle") await chargeUses(db, repeated, now);
      else {
        const exceeded = await takeUses(db, repeated, now);
        if (exceeded !== undefined) return exceeded;
      }
      const cost = next.gasLimit * attempt.maxFee + (attempt.dataFee ?? 0n);
      const { gasLimit, ...columns } = next;
      const fixed = { gas_limit: String(gasLimit), cost: String(cost), state: "sent" as const };
      await db
        .insertInto("transactions")
        .values({ ...columns, ...fixed, created_at: now, updated_at: now })
        .execute();
      await insertAttempt(attempt, next.id);
      await chargeGas(db, next.day, cost);
      if (operationIds.length === 0) return undefined;
      const set = { state: "broadcast" as const, transaction_id: next.id, tx_hash: attempt.hash, reason: null };
      await db
        .updateTable("operations")
        .set((eb) => ({ ...set, sendings: eb("sendings", "+", 1), updated_at: now }))
        .where("id", "in", operationIds)
        .execute();
      return undefined;
    },

    /** Before it is sent: another signed form with the same nonce. `as` where it no longer does what it did. */
    async replace(id: string, attempt: NewAttempt, as?: Pick<NewTransaction, "kind" | "to" | "data" | "gasLimit">) {
      const old = await db
        .selectFrom("transactions")
        .select(["gas_limit", "cost"])
        .where("id", "=", id)
        .executeTakeFirstOrThrow();
      const cost = (as?.gasLimit ?? BigInt(old.gas_limit)) * attempt.maxFee + (attempt.dataFee ?? 0n);
      // Any of the forms may be mined: the dearest counts.
      if (cost > BigInt(old.cost)) {
        await chargeDoublings(id, BigInt(old.gas_limit), BigInt(old.cost), cost);
        await setCost(id, cost);
      }
      if (as) await change(id, { kind: as.kind, to: as.to, data: as.data, gas_limit: String(as.gasLimit) });
      await insertAttempt(attempt, id);
      await operationsOf(id).set({ tx_hash: attempt.hash, updated_at: clock() }).execute();
    },

    async sent(hash: string): Promise<void> {
      await db.updateTable("attempts").set({ sent_at: clock() }).where("hash", "=", hash).execute();
    },

    /** It is in a block. @param cost wei */
    async mined(id: string, hash: string, block: { number: number; hash: string }, succeeded: boolean, cost: bigint) {
      await setCost(id, cost);
      const place = { block_number: block.number, block_hash: block.hash, status: succeeded ? 1 : 0 };
      await change(id, { state: "mined", ...place });
      await operationsOf(id).set({ tx_hash: hash, updated_at: clock() }).execute();
    },

    /** Its block is gone. */
    async unmined(id: string): Promise<void> {
      await change(id, { state: "sent", block_number: null, block_hash: null, status: null });
    },

    async final(id: string): Promise<void> {
      await change(id, { state: "final" });
    },

    /** Its nonce went elsewhere: it can never be mined. What it carried waits again. */
    async dropped(id: string): Promise<void> {
      await setCost(id, 0n);
      await change(id, { state: "dropped", block_number: null, block_hash: null, status: null });
      await operationsOf(id).set({ state: "queued", transaction_id: null, updated_at: clock() }).execute();
    },
  };
}

const quotasIn = (rows: readonly Pick<Row<"operations">, "quotas">[]): Quota[] =>
  rows.flatMap(({ quotas }) => JSON.parse(quotas) as Quota[]);

/** How often `first` has doubled to become `cost`. */
const doublings = (first: bigint, cost: bigint): number => (cost / first).toString(2).length - 1;

/** One transaction, or those that are not final. */
async function load(db: Db, id?: string): Promise<OutboxTransaction[]> {
  const query = db.selectFrom("transactions").selectAll().orderBy("nonce");
  const rows = await (id === undefined ? query.where(PARTS.openTransactions) : query.where("id", "=", id)).execute();
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.id);
  const attempts = await db.selectFrom("attempts").selectAll().where("transaction_id", "in", ids).execute();
  // Replacements always pay more, so the fee is their order.
  attempts.sort((a, b) => (BigInt(a.max_fee) < BigInt(b.max_fee) ? -1 : 1));
  return rows.map((row) => ({
    id: row.id,
    kind: row.kind,
    sender: row.sender,
    nonce: row.nonce,
    state: row.state,
    to: row.to,
    data: row.data,
    gasLimit: BigInt(row.gas_limit),
    cost: BigInt(row.cost),
    blockNumber: row.block_number ?? undefined,
    blockHash: row.block_hash ?? undefined,
    succeeded: row.status === null ? undefined : row.status === 1,
    createdAt: row.created_at,
    attempts: attempts.filter(({ transaction_id }) => transaction_id === row.id).map(toAttempt),
  }));
}

const toAttempt = (row: Row<"attempts">): Attempt => ({
  hash: row.hash,
  raw: row.raw,
  maxFee: BigInt(row.max_fee),
  maxPriority: BigInt(row.max_priority),
  dataFee: BigInt(row.data_fee),
  createdAt: row.created_at,
  sentAt: row.sent_at ?? undefined,
});
