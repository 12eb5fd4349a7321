import type { Exceeded, Quota } from "@sotto/server";
import { chargeGas } from "./gas.ts";
import { chargeUses, takeUses } from "./quotas.ts";
import { type Db, PARTS, type Row, type TransactionKind, type TransactionState } from "./schema.ts";

/** A signed version of a transaction; amounts in wei. */
export interface Attempt {
  hash: string;
  raw: string;
  maxFee: bigint;
  maxPriority: bigint;
  /** Fee for its data on the parent chain of a rollup, else 0. */
  dataFee: bigint;
  createdAt: number;
  /** When a node last accepted it. */
  sentAt: number | undefined;
}

/** A transaction of the relayer: one nonce, one or more signed versions. */
export interface OutboxTransaction {
  id: string;
  kind: TransactionKind;
  sender: string;
  nonce: number;
  state: TransactionState;
  to: string;
  data: string;
  gasLimit: bigint;
  /** Maximum cost, wei. */
  cost: bigint;
  blockNumber: number | undefined;
  blockHash: string | undefined;
  /** Whether it executed without a revert; undefined before it is mined. */
  succeeded: boolean | undefined;
  createdAt: number;
  /** Oldest first. */
  attempts: readonly Attempt[];
}

/** What decides which account sends next. */
export type TransactionSummary = Pick<OutboxTransaction, "id" | "kind" | "sender" | "state" | "cost" | "createdAt">;

export type NewAttempt = Pick<Attempt, "hash" | "raw" | "maxFee" | "maxPriority"> & { dataFee?: bigint };

export interface NewTransaction {
  id: string;
  kind: TransactionKind;
  sender: string;
  nonce: number;
  to: string;
  data: string;
  gasLimit: bigint;
  /** Day (UTC, YYYY-MM-DD) whose budget pays for it. */
  day: string;
}

export function outboxReads(db: Db) {
  return {
    /** Transactions that are not final, by nonce. */
    open: () => load(db),
    /** Summaries of these, by nonce, without calldata and signed versions, which have tens of kilobytes each. */
    async summaries(): Promise<TransactionSummary[]> {
      const query = db.selectFrom("transactions").select(["id", "kind", "sender", "state", "cost", "created_at"]);
      const rows = await query.where(PARTS.openTransactions).orderBy("nonce").execute();
      return rows.map(({ cost, created_at, ...row }) => ({ ...row, cost: BigInt(cost), createdAt: created_at }));
    },
    /** The dropped transaction with this signed version; undefined if it was not dropped. */
    async dropped(hash: string): Promise<Pick<OutboxTransaction, "sender" | "nonce"> | undefined> {
      const query = db.selectFrom("attempts").innerJoin("transactions", "transactions.id", "attempts.transaction_id");
      const found = query.select(["sender", "nonce"]).where("hash", "=", hash).where("state", "=", "dropped");
      return found.executeTakeFirst();
    },
    get: async (id: string): Promise<OutboxTransaction | undefined> => (await load(db, id))[0],
    /**
     * The nonces, starting at `from`, of all transactions that were not dropped. Final ones are included: a node may
     * lag behind.
     */
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
  /** Counts the quotas again each time the cost of a transaction has doubled. */
  const chargeDoublings = async (id: string, gasLimit: bigint, from: bigint, to: bigint) => {
    const fees = await db.selectFrom("attempts").select("max_fee").where("transaction_id", "=", id).execute();
    const [first] = fees.map(({ max_fee }) => gasLimit * BigInt(max_fee)).sort((a, b) => (a < b ? -1 : 1));
    const times = doublings(first!, to) - doublings(first!, from);
    if (times <= 0) return;
    const carried = db.selectFrom("operations").select("quotas").where("transaction_id", "=", id);
    const quotas = quotasIn(await carried.execute());
    for (let i = 0; i < times; i += 1) await chargeUses(db, quotas, clock());
  };
  /**
   * Records a signed version. If the fees are unchanged, a dropped transaction may be signed again with the same content and
   * thus the same hash. The signed version then belongs to the new transaction.
   */
  const insertAttempt = ({ hash, raw, maxFee, maxPriority, dataFee = 0n }: NewAttempt, transaction_id: string) => {
    const values = {
      transaction_id,
      raw,
      max_fee: String(maxFee),
      max_priority: String(maxPriority),
      data_fee: String(dataFee),
      created_at: clock(),
      sent_at: null,
    };
    return db
      .insertInto("attempts")
      .values({ hash, ...values })
      .onConflict((conflict) => conflict.column("hash").doUpdateSet(values))
      .execute();
  };
  /** Sets the cost of a transaction and corrects the day's total. */
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
     * Records a transaction with its first signed version and its operations, before it is sent. An operation that was sent
     * before counts for its quotas once more.
     * @returns a quota that a deposit or withdrawal would exceed; then nothing is recorded
     */
    async record(
      next: NewTransaction,
      attempt: NewAttempt,
      operationIds: readonly string[],
    ): Promise<Exceeded | undefined> {
      const now = clock();
      const repeated = await quotasOfRepeated(operationIds);
      // An accepted payment is always settled. Its extra cost reduces what later payments may use.
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

    /**
     * Records another signed version with the same nonce, before it is sent. @param as the new content, if it does
     * something else
     */
    async replace(id: string, attempt: NewAttempt, as?: Pick<NewTransaction, "kind" | "to" | "data" | "gasLimit">) {
      const old = await db
        .selectFrom("transactions")
        .select(["gas_limit", "cost"])
        .where("id", "=", id)
        .executeTakeFirstOrThrow();
      const cost = (as?.gasLimit ?? BigInt(old.gas_limit)) * attempt.maxFee + (attempt.dataFee ?? 0n);
      // Any version may be mined, so the most expensive one counts.
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

    /** Records that it is in a block. @param cost wei */
    async mined(id: string, hash: string, block: { number: number; hash: string }, succeeded: boolean, cost: bigint) {
      await setCost(id, cost);
      const place = { block_number: block.number, block_hash: block.hash, status: succeeded ? 1 : 0 };
      await change(id, { state: "mined", ...place });
      await operationsOf(id).set({ tx_hash: hash, updated_at: clock() }).execute();
    },

    /** Records that a reorganization removed its block. */
    async unmined(id: string): Promise<void> {
      await change(id, { state: "sent", block_number: null, block_hash: null, status: null });
    },

    async final(id: string): Promise<void> {
      await change(id, { state: "final" });
    },

    /** Drops it, because another transaction used its nonce or its account cannot replace it, and queues its operations again. */
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

/** Loads one transaction, or all that are not final. */
async function load(db: Db, id?: string): Promise<OutboxTransaction[]> {
  const query = db.selectFrom("transactions").selectAll().orderBy("nonce");
  const rows = await (id === undefined ? query.where(PARTS.openTransactions) : query.where("id", "=", id)).execute();
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.id);
  const attempts = await db.selectFrom("attempts").selectAll().where("transaction_id", "in", ids).execute();
  // Replacements always pay more, so the fee gives the order.
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
