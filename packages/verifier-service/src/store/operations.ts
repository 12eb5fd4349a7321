import type { Exceeded, Quota } from "@sotto/server";
import type { Database } from "./database.ts";
import { assertRecord } from "./errors.ts";
import { openOperations } from "./open-operations.ts";
import { quotaKeys, takeUses } from "./quotas.ts";
import { claimOf, nullifierKey, stateOf, takenReason } from "./reservations.ts";
import { type Db, type NewRow, type OperationKind, type OperationState, PARTS, type Row } from "./schema.ts";

/** A payment, sponsored deposit or withdrawal on its way through the relayer. */
export interface Operation {
  id: string;
  kind: OperationKind;
  digest: string;
  nullifiers: readonly string[];
  /** Arguments of the contract's function. */
  call: unknown;
  client: string;
  /** A deposit's depositor, a withdrawal's client; empty for a payment. */
  account: string;
  /** Seconds. */
  validUntil: number;
  state: OperationState;
  transactionId: string | undefined;
  txHash: string | undefined;
  blockNumber: number | undefined;
  /** The sender of the transaction that settled it. */
  gasPaidBy: string | undefined;
  /** A code: why it failed, or why it is deferred. */
  reason: string | undefined;
  reverts: number;
  /** The last block on which its simulation reverted. */
  revertBlock: number | undefined;
  retryAt: number;
  createdAt: number;
  updatedAt: number;
  /** Traceparent of the request that queued it, if that is traced. */
  trace: string | undefined;
}

export interface NewOperation {
  id: string;
  digest: string;
  call: unknown;
  client: string;
  /** Seconds. */
  validUntil: number;
  /** Called if it is queued. @returns the traceparent to store with it */
  trace?: (() => string | undefined) | undefined;
}

export interface NewDeposit extends NewOperation {
  /** The depositor. */
  account: string;
  /** Base units that the deposit transfers. */
  amount: bigint;
  /**
   * The depositor's balance in base units; undefined if the authorization was used before, because the deposit then
   * transfers nothing.
   */
  balance: bigint | undefined;
}

/** queued: it is queued now, and its quotas are counted. same: it was queued before, as `operation`. */
type Enqueued = { kind: "queued" | "same"; operation: Operation } | Exceeded;

/** taken: another operation spends or spent its notes. */
export type EnqueueResult = Enqueued | { kind: "taken"; reason: "NULLIFIER_QUEUED" | "NULLIFIER_SPENT" };

/** uncovered: the balance does not cover this deposit in addition to the account's open ones, which transfer `open` base units. */
export type EnqueueDepositResult = Enqueued | { kind: "uncovered"; deposits: number; open: bigint };

/** gone: the reservation expired, was replaced by another payment of the same note, or never existed. */
export type EnqueuePaymentResult = Enqueued | { kind: "gone" };

const DEAD: readonly OperationState[] = ["failed", "expired"];

export function operationRepository(database: Database, clock: () => number) {
  const add = async (db: Db, row: NewRowOf, quotas: readonly Quota[]) => {
    const now = clock();
    const times = { created_at: now, updated_at: now };
    const state = { state: "queued" as const, reverts: 0, retry_at: 0, sendings: 0, quotas: JSON.stringify(quotas) };
    return toOperation(
      await db
        .insertInto("operations")
        .values({ ...row, ...state, ...times })
        .returningAll()
        .executeTakeFirstOrThrow(),
    );
  };
  return {
    /**
     * Queues the payment of a reservation, once. `call` turns the reserved bundle into the contract's arguments.
     * @param quotas counted now and with each resend; @param again counted with each resend only
     * @param trace called if it is queued; returns the traceparent to store with it
     */
    async enqueuePayment(
      id: string,
      call: (bundle: string) => unknown,
      quotas: readonly Quota[] = [],
      again: (client: string) => readonly Quota[] = () => [],
      trace: () => string | undefined = () => undefined,
    ): Promise<EnqueuePaymentResult> {
      const found = await database.db
        .selectFrom("reservations")
        .select("nullifier")
        .where("id", "=", id)
        .executeTakeFirst();
      if (found === undefined) {
        const operation = await getOperation(database.db, id);
        return operation?.kind === "payment" ? { kind: "same", operation } : { kind: "gone" };
      }
      return database.transaction([nullifierKey(found.nullifier), ...quotaKeys(quotas)], async (db) => {
        const operation = await getOperation(db, id);
        if (operation !== undefined) return { kind: "same", operation };
        const claim = await claimOf(db, found.nullifier);
        const row = await db.selectFrom("reservations").selectAll().where("id", "=", id).executeTakeFirst();
        if (row === undefined || claim?.holder !== id || claim.expires_at <= clock()) return { kind: "gone" };
        const exceeded = await takeUses(db, quotas, clock());
        if (exceeded !== undefined) return exceeded;
        await db.updateTable("claims").set({ queued: 1 }).where("nullifier", "=", row.nullifier).execute();
        const { digest, client, valid_until } = row;
        const nullifiers = JSON.stringify([row.nullifier]);
        const text = JSON.stringify(call(row.bundle));
        const turn = { account: "", amount: "0", turn: 0 };
        const own = { id, kind: "payment" as const, trace: trace() ?? null };
        const next = { ...own, digest, nullifiers, call: text, client, valid_until, ...turn };
        return { kind: "queued", operation: await add(db, next, [...quotas, ...again(client)]) };
      });
    },

    /** Queues a withdrawal and claims all its nullifiers, unless one of them is queued or spent. */
    enqueueWithdrawal(
      next: NewOperation & { nullifiers: readonly string[] },
      quotas: readonly Quota[] = [],
    ): Promise<EnqueueResult> {
      const { nullifiers } = next;
      assertRecord(nullifiers.length > 0 && new Set(nullifiers).size === nullifiers.length, "nullifiers must differ");
      return database.transaction([...nullifiers.map(nullifierKey), ...quotaKeys(quotas)], async (db) => {
        const older = await liveByDigest(db, "withdrawal", next.digest);
        if (older !== undefined) return { kind: "same", operation: older };
        const claims = await db.selectFrom("claims").selectAll().where("nullifier", "in", nullifiers).execute();
        const queued = claims.find((claim) => claim.queued === 1);
        if (queued !== undefined) return { kind: "taken", reason: takenReason(await stateOf(db, queued.holder)) };
        const exceeded = await takeUses(db, quotas, clock());
        if (exceeded !== undefined) return exceeded;
        // A payment of one of these notes that was only verified loses its reservation, and its token becomes invalid.
        for (const { holder, nullifier } of claims) {
          await db.deleteFrom("reservations").where("id", "=", holder).execute();
          await db.deleteFrom("claims").where("nullifier", "=", nullifier).execute();
        }
        const { id, digest } = next;
        const claim = { holder: id, digest, queued: 1, expires_at: 0 };
        await db
          .insertInto("claims")
          .values(nullifiers.map((nullifier) => ({ nullifier, ...claim })))
          .execute();
        const row = { ...rowOf(next, nullifiers), amount: "0", ...(await turnOf(db, `client:${next.client}`)) };
        return { kind: "queued", operation: await add(db, { ...row, kind: "withdrawal" }, quotas) };
      });
    },

    /**
     * Queues a deposit; `digest` is its depositor and authorization nonce. A lock per account, shared by all replicas,
     * ensures that the balance covers this deposit and all open ones.
     */
    enqueueDeposit(next: NewDeposit, quotas: readonly Quota[] = []): Promise<EnqueueDepositResult> {
      const { account, amount, balance } = next;
      return database.transaction([`account:${account}`, ...quotaKeys(quotas)], async (db) => {
        const older = await liveByDigest(db, "deposit", next.digest);
        if (older !== undefined) return { kind: "same", operation: older };
        const { deposits, open } = await openDeposits(db, account);
        if (balance !== undefined && open + amount > balance) return { kind: "uncovered", deposits, open };
        const exceeded = await takeUses(db, quotas, clock());
        if (exceeded !== undefined) return exceeded;
        // An authorization that was used before transfers nothing.
        const takes = balance === undefined ? "0" : String(amount);
        const row = { ...rowOf(next, []), amount: takes, ...(await turnOf(db, account)) };
        return { kind: "queued", operation: await add(db, { ...row, kind: "deposit" }, quotas) };
      });
    },

    get: (id: string): Promise<Operation | undefined> => getOperation(database.db, id),

    /** The withdrawal with these signals, unless it failed or expired. */
    getWithdrawal: (digest: string): Promise<Operation | undefined> => liveByDigest(database.db, "withdrawal", digest),

    /** The deposit with this authorization, unless it failed or expired. */
    getDeposit: (digest: string): Promise<Operation | undefined> => liveByDigest(database.db, "deposit", digest),

    ...openOperations(database.db, clock, toOperation),
  };
}

type NewRowOf = Omit<
  NewRow<"operations">,
  "created_at" | "updated_at" | "state" | "reverts" | "retry_at" | "sendings" | "quotas"
>;

function rowOf(next: NewOperation, nullifiers: readonly string[]) {
  const { id, digest, client, validUntil: valid_until } = next;
  assertRecord(Number.isSafeInteger(valid_until), `validUntil is in seconds, got ${valid_until}`);
  const texts = {
    nullifiers: JSON.stringify(nullifiers),
    call: JSON.stringify(next.call),
    trace: next.trace?.() ?? null,
  };
  return { id, digest, client, valid_until, ...texts };
}

/**
 * What an account's open deposits will still transfer. Mined deposits are not counted, because the balance already
 * reflects them.
 */
async function openDeposits(db: Db, account: string): Promise<{ deposits: number; open: bigint }> {
  const rows = db.selectFrom("operations").select("amount").where(PARTS.openOthers);
  const own = rows.where("account", "=", account).where("kind", "=", "deposit");
  const open = own.where(({ not, exists, selectFrom }) => {
    const carriers = selectFrom("transactions").select("transactions.id").where("transactions.status", "=", 1);
    return not(exists(carriers.whereRef("transactions.id", "=", "operations.transaction_id")));
  });
  const amounts = (await open.execute()).map(({ amount }) => BigInt(amount));
  return { deposits: amounts.length, open: amounts.reduce((sum, amount) => sum + amount, 0n) };
}

/**
 * The turn of an account's next operation: after the turn that was sent last, and after the account's own queued
 * operations. So between two operations of one account, every other account is served at most once.
 */
async function turnOf(db: Db, account: string): Promise<{ account: string; turn: number }> {
  const rows = () => db.selectFrom("operations").select("turn").orderBy("turn", "desc").limit(1);
  const own = await rows().where(PARTS.openOthers).where("account", "=", account).executeTakeFirst();
  const sent = await rows().where(PARTS.sentOthers).executeTakeFirst();
  return { account, turn: Math.max(own?.turn ?? 0, sent?.turn ?? 0) + 1 };
}

async function liveByDigest(db: Db, kind: OperationKind, digest: string): Promise<Operation | undefined> {
  const query = db.selectFrom("operations").selectAll().where("kind", "=", kind).where("digest", "=", digest);
  const row = await query.where("state", "not in", DEAD).executeTakeFirst();
  return row && toOperation(row);
}

async function getOperation(db: Db, id: string): Promise<Operation | undefined> {
  const row = await db.selectFrom("operations").selectAll().where("id", "=", id).executeTakeFirst();
  return row && toOperation(row);
}

function toOperation(row: Row<"operations">): Operation {
  const { id, kind, digest, client, account, state, reverts } = row;
  return {
    id,
    kind,
    digest,
    nullifiers: JSON.parse(row.nullifiers),
    call: JSON.parse(row.call),
    client,
    account,
    validUntil: row.valid_until,
    state,
    transactionId: row.transaction_id ?? undefined,
    txHash: row.tx_hash ?? undefined,
    blockNumber: row.block_number ?? undefined,
    gasPaidBy: row.gas_paid_by ?? undefined,
    reason: row.reason ?? undefined,
    reverts,
    revertBlock: row.revert_block ?? undefined,
    retryAt: row.retry_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    trace: row.trace ?? undefined,
  };
}
