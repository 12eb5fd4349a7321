import type { Database } from "./database.ts";
import { assertRecord } from "./errors.ts";
import { openOperations } from "./open-operations.ts";
import { type Exceeded, type Quota, quotaKeys, takeUses } from "./quotas.ts";
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

export interface NewDeposit extends NewOperation {
  /** The depositor. */
  account: string;
  /** Base units that it takes. */
  amount: bigint;
  /** Base units that the depositor has; undefined if the authorization was used already, so that it takes no more. */
  balance: bigint | undefined;
}

/** queued: now, and counted. same: it already was, under the id of `operation`. */
type Enqueued = { kind: "queued" | "same"; operation: Operation } | Exceeded;

/** taken: its notes are being spent otherwise. */
export type EnqueueResult = Enqueued | { kind: "taken"; reason: "NULLIFIER_QUEUED" | "NULLIFIER_SPENT" };

/** uncovered: the balance pays for the account's open deposits, which take `open` base units, but not for this one too. */
export type EnqueueDepositResult = Enqueued | { kind: "uncovered"; deposits: number; open: bigint };

/** gone: the reservation was replaced by another bundle of the same note, or expired, or never was. */
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
     * Queues the payment of a reservation, once. `call` makes the contract's arguments of the reserved bundle.
     * @param quotas what it counts for; @param again what each further sending counts for as well, by client
     */
    async enqueuePayment(
      id: string,
      call: (bundle: string) => unknown,
      quotas: readonly Quota[] = [],
      again: (client: string) => readonly Quota[] = () => [],
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
        const next = { id, kind: "payment" as const, digest, nullifiers, call: text, client, valid_until, ...turn };
        return { kind: "queued", operation: await add(db, next, [...quotas, ...again(client)]) };
      });
    },

    /** Queues a withdrawal and takes all its nullifiers, unless one of them is queued or spent. */
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
        const row = { ...rowOf(next, nullifiers), amount: "0", ...(await turnOf(db, `client:${next.client}`)) };
        return { kind: "queued", operation: await add(db, { ...row, kind: "withdrawal" }, quotas) };
      });
    },

    /**
     * Queues a deposit; `digest` names depositor and authorization nonce. An account's deposits are queued one after
     * the other, on all replicas: those that are open and this one must be covered by its balance.
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
        // What was used already takes nothing more of the balance.
        const takes = balance === undefined ? "0" : String(amount);
        const row = { ...rowOf(next, []), amount: takes, ...(await turnOf(db, account)) };
        return { kind: "queued", operation: await add(db, { ...row, kind: "deposit" }, quotas) };
      });
    },

    get: (id: string): Promise<Operation | undefined> => getOperation(database.db, id),

    /** A withdrawal that was not given up, by its signals. */
    getWithdrawal: (digest: string): Promise<Operation | undefined> => liveByDigest(database.db, "withdrawal", digest),

    /** A deposit that was not given up, by its authorization. */
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
  const texts = { nullifiers: JSON.stringify(nullifiers), call: JSON.stringify(next.call) };
  return { id, digest, client, valid_until, ...texts };
}

/** What an account's open deposits still take from its balance: not those that are mined. */
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
 * Where an account's next operation stands in the queue: one turn after what was sent last, and after all that the
 * account itself has there. So nobody waits for more than one operation of each other account at a time.
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
    retryAt: row.retry_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
