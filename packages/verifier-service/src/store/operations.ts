import { sql } from "kysely";
import type { Database } from "./database.ts";
import { expectRecord } from "./errors.ts";
import { type Exceeded, expectUse, type Quota, quotaKeys } from "./quotas.ts";
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
  /** Seconds. */
  validUntil: number;
  state: OperationState;
  transactionId: string | undefined;
  txHash: string | undefined;
  blockNumber: number | undefined;
  /** Who paid the gas where it was not the relayer; undefined: the relayer, or nobody yet. */
  gasPaidBy: string | undefined;
  /** A code that says why it failed, or what keeps it back. */
  reason: string | undefined;
  reverts: number;
  retryAt: number;
  createdAt: number;
  updatedAt: number;
}

export interface NewOperation {
  id: string;
  digest: string;
  call: unknown;
  client: string;
  /** Seconds. */
  validUntil: number;
}

/** queued: now, and counted. same: it already was, under the id of `operation`. */
type Enqueued = { kind: "queued" | "same"; operation: Operation } | Exceeded;

/** taken: its notes are being spent otherwise. */
export type EnqueueResult = Enqueued | { kind: "taken"; reason: "NULLIFIER_QUEUED" | "NULLIFIER_SPENT" };

/** gone: the reservation was replaced by another bundle of the same note, or expired, or never was. */
export type EnqueuePaymentResult = Enqueued | { kind: "gone" };

const DEAD: readonly OperationState[] = ["failed", "expired"];

export function operationRepository(database: Database, clock: () => number) {
  const add = async (
    db: Db,
    row: Omit<NewRow<"operations">, "created_at" | "updated_at" | "state" | "reverts" | "retry_at">,
  ) => {
    const now = clock();
    const state = { state: "queued" as const, reverts: 0, retry_at: 0, created_at: now, updated_at: now };
    return toOperation(
      await db
        .insertInto("operations")
        .values({ ...row, ...state })
        .returningAll()
        .executeTakeFirstOrThrow(),
    );
  };
  return {
    /** Queues the payment of a reservation, once. `call` makes the contract's arguments of the reserved bundle. */
    async enqueuePayment(id: string, call: (bundle: string) => unknown, quota?: Quota): Promise<EnqueuePaymentResult> {
      const found = await database.db
        .selectFrom("reservations")
        .select("nullifier")
        .where("id", "=", id)
        .executeTakeFirst();
      if (found === undefined) {
        const operation = await getOperation(database.db, id);
        return operation?.kind === "payment" ? { kind: "same", operation } : { kind: "gone" };
      }
      return database.transaction([nullifierKey(found.nullifier), ...quotaKeys(quota)], async (db) => {
        const operation = await getOperation(db, id);
        if (operation !== undefined) return { kind: "same", operation };
        const claim = await claimOf(db, found.nullifier);
        const row = await db.selectFrom("reservations").selectAll().where("id", "=", id).executeTakeFirst();
        if (row === undefined || claim?.holder !== id || claim.expires_at <= clock()) return { kind: "gone" };
        const exceeded = await expectUse(db, quota, clock());
        if (exceeded !== undefined) return exceeded;
        await db.updateTable("claims").set({ queued: 1 }).where("nullifier", "=", row.nullifier).execute();
        const { digest, client, valid_until } = row;
        const nullifiers = JSON.stringify([row.nullifier]);
        const text = JSON.stringify(call(row.bundle));
        const queued = await add(db, { id, kind: "payment", digest, nullifiers, call: text, client, valid_until });
        return { kind: "queued", operation: queued };
      });
    },

    /** Queues a withdrawal and takes all its nullifiers, unless one of them is queued or spent. */
    enqueueWithdrawal(next: NewOperation & { nullifiers: readonly string[] }, quota?: Quota): Promise<EnqueueResult> {
      const { nullifiers } = next;
      expectRecord(nullifiers.length > 0 && new Set(nullifiers).size === nullifiers.length, "nullifiers must differ");
      return database.transaction([...nullifiers.map(nullifierKey), ...quotaKeys(quota)], async (db) => {
        const older = await liveByDigest(db, "withdrawal", next.digest);
        if (older !== undefined) return { kind: "same", operation: older };
        const claims = await db.selectFrom("claims").selectAll().where("nullifier", "in", nullifiers).execute();
        const queued = claims.find((claim) => claim.queued === 1);
        if (queued !== undefined) return { kind: "taken", reason: takenReason(await stateOf(db, queued.holder)) };
        const exceeded = await expectUse(db, quota, clock());
        if (exceeded !== undefined) return exceeded;
        // A payment of one of these notes that was only verified gives way, and its token dies.
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
        return { kind: "queued", operation: await add(db, rowOf("withdrawal", next, nullifiers)) };
      });
    },

    /** Queues a deposit; `digest` names depositor and authorization nonce. */
    enqueueDeposit(next: NewOperation, quota?: Quota): Promise<EnqueueResult> {
      return database.transaction([`deposit:${next.digest}`, ...quotaKeys(quota)], async (db) => {
        const older = await liveByDigest(db, "deposit", next.digest);
        if (older !== undefined) return { kind: "same", operation: older };
        const exceeded = await expectUse(db, quota, clock());
        return exceeded ?? { kind: "queued", operation: await add(db, rowOf("deposit", next, [])) };
      });
    },

    get: (id: string): Promise<Operation | undefined> => getOperation(database.db, id),

    /** A deposit that was not given up, by its authorization. */
    getDeposit: (digest: string): Promise<Operation | undefined> => liveByDigest(database.db, "deposit", digest),

    /** Those that are not over: payments, whose dates are minutes away, and then the others, the oldest first. */
    async open(limit = 1000): Promise<Operation[]> {
      const rows = database.db.selectFrom("operations").selectAll().where(PARTS.openOperations);
      const ordered = rows.orderBy(sql`kind <> 'payment'`).orderBy("created_at").orderBy("id");
      return (await ordered.limit(limit).execute()).map(toOperation);
    },

    /** How many are in each state that is not over. */
    async counts(): Promise<{ queued: number; broadcast: number }> {
      const { count } = database.db.fn;
      const query = database.db.selectFrom("operations").select(["state", count<number | string>("id").as("n")]);
      const rows = await query.where(PARTS.openOperations).groupBy("state").execute();
      const of = (state: OperationState) => Number(rows.find((row) => row.state === state)?.n ?? 0);
      return { queued: of("queued"), broadcast: of("broadcast") };
    },
  };
}

function rowOf(kind: OperationKind, next: NewOperation, nullifiers: readonly string[]) {
  const { id, digest, client, validUntil: valid_until } = next;
  expectRecord(Number.isSafeInteger(valid_until), `validUntil is in seconds, got ${valid_until}`);
  const texts = { nullifiers: JSON.stringify(nullifiers), call: JSON.stringify(next.call) };
  return { id, kind, digest, client, valid_until, ...texts };
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
  const { id, kind, digest, client, state, reverts } = row;
  return {
    id,
    kind,
    digest,
    nullifiers: JSON.parse(row.nullifiers),
    call: JSON.parse(row.call),
    client,
    validUntil: row.valid_until,
    state,
    transactionId: row.transaction_id ?? undefined,
    txHash: row.tx_hash ?? undefined,
    blockNumber: row.block_number ?? undefined,
    gasPaidBy: row.gas_paid_by ?? undefined,
    reason: row.reason ?? undefined,
    reverts,
    retryAt: row.retry_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
