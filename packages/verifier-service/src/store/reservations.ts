import type { Database } from "./database.ts";
import { assertRecord } from "./errors.ts";
import { type Db, type OperationState, PARTS, type Row } from "./schema.ts";

export interface NewReservation {
  /** The token's jti, which is the payment's id. */
  id: string;
  /** Decimal. */
  nullifier: string;
  /** keccak256 of the public signals. */
  digest: string;
  /** The verified bundle as canonical JSON. */
  bundle: string;
  /** When the token expires, ms. */
  expiresAt: number;
  /** Seconds; the contract enforces it. */
  validUntil: number;
  recipient: string;
  /** The id under which quotas count the client. */
  client: string;
  /** Traceparent of its verification, if that is traced. */
  trace?: string | undefined;
}

export interface Reservation extends NewReservation {
  createdAt: number;
}

/**
 * reserved: under the new id. same: the same bundle is already reserved or queued under `id`, for which a token may be issued
 * again. taken: another payment or a withdrawal of the same note was queued before.
 */
export type ReserveResult =
  | { kind: "reserved"; id: string }
  | { kind: "same"; id: string }
  | { kind: "taken"; reason: "NULLIFIER_QUEUED" | "NULLIFIER_SPENT" };

/** Larger values are milliseconds by mistake. */
const MAX_UNIX_SECONDS = 100_000_000_000;

export const nullifierKey = (nullifier: string): string => `nullifier:${nullifier}`;

export function reservationRepository(database: Database, clock: () => number) {
  return {
    /**
     * Reserves a nullifier for a verified bundle. It replaces an earlier bundle of the same note unless that was queued; the
     * earlier id is then unknown.
     */
    async reserve(next: NewReservation): Promise<ReserveResult> {
      assertRecord(next.id !== "" && next.nullifier !== "", "a reservation needs an id and a nullifier");
      const seconds = Number.isSafeInteger(next.validUntil) && next.validUntil < MAX_UNIX_SECONDS;
      assertRecord(seconds, `validUntil is in seconds, got ${next.validUntil}`);
      assertRecord(Number.isSafeInteger(next.expiresAt), `expiresAt is in milliseconds, got ${next.expiresAt}`);
      return database.transaction([nullifierKey(next.nullifier)], async (db) => {
        const claim = await claimOf(db, next.nullifier);
        if (claim?.queued === 1) return queuedClaim(db, claim, next);
        const older = claim && (await find(db, claim.holder));
        if (
          claim &&
          older &&
          claim.digest === next.digest &&
          older.bundle === next.bundle &&
          claim.expires_at > clock()
        ) {
          const expires_at = Math.max(next.expiresAt, older.expiresAt);
          await db.updateTable("reservations").set({ expires_at }).where("id", "=", older.id).execute();
          await db.updateTable("claims").set({ expires_at }).where("nullifier", "=", next.nullifier).execute();
          return { kind: "same", id: older.id };
        }
        if (claim) {
          await db.deleteFrom("reservations").where("id", "=", claim.holder).execute();
          await db.deleteFrom("claims").where("nullifier", "=", next.nullifier).execute();
        }
        await insert(db, next, clock());
        return { kind: "reserved", id: next.id };
      });
    },

    /** The reservation of a token; undefined after it was replaced or deleted. */
    get: (id: string): Promise<Reservation | undefined> => find(database.db, id),

    /**
     * The reservation of exactly this bundle, if its note is still reserved or queued for it.
     * @param nullifier decimal; @param bundle canonical JSON
     */
    async ofBundle(nullifier: string, bundle: string): Promise<Reservation | undefined> {
      const claim = await claimOf(database.db, nullifier);
      const holder = claim && (await find(database.db, claim.holder));
      return holder?.bundle === bundle ? holder : undefined;
    },

    /** Why the note is not available to this bundle: another payment or a withdrawal was queued. */
    async takenBy(nullifier: string, bundle: string): Promise<"NULLIFIER_QUEUED" | "NULLIFIER_SPENT" | undefined> {
      const claim = await claimOf(database.db, nullifier);
      if (claim?.queued !== 1) return undefined;
      const holder = await find(database.db, claim.holder);
      return holder?.bundle === bundle ? undefined : takenReason(await stateOf(database.db, claim.holder));
    },

    /** Deletes reservations whose token expired before the payment was queued. @returns how many */
    async sweep(before = clock()): Promise<number> {
      const { db } = database;
      const gone = db.selectFrom("claims").select("holder").where(PARTS.reserved).where("expires_at", "<=", before);
      return database.transaction(["sweep"], async (transaction) => {
        const rows = await transaction.deleteFrom("reservations").where("id", "in", gone).returning("id").execute();
        await transaction.deleteFrom("claims").where(PARTS.reserved).where("expires_at", "<=", before).execute();
        return rows.length;
      });
    },

    /** Deletes the bundles of ended payments whose tokens expired before this time. Their outcomes are kept. */
    async retire(before: number): Promise<number> {
      const { db } = database;
      const open = db.selectFrom("operations").select("id").where(PARTS.openOperations);
      const old = db.deleteFrom("reservations").where("expires_at", "<=", before).where("id", "not in", open);
      return (await old.returning("id").execute()).length;
    },
  };
}

export async function claimOf(db: Db, nullifier: string): Promise<Row<"claims"> | undefined> {
  return db.selectFrom("claims").selectAll().where("nullifier", "=", nullifier).executeTakeFirst();
}

async function queuedClaim(db: Db, claim: Row<"claims">, next: NewReservation): Promise<ReserveResult> {
  const holder = await find(db, claim.holder);
  if (holder?.bundle === next.bundle) return { kind: "same", id: claim.holder };
  return { kind: "taken", reason: takenReason(await stateOf(db, claim.holder)) };
}

export const takenReason = (state: OperationState | undefined) =>
  state === "settled" ? ("NULLIFIER_SPENT" as const) : ("NULLIFIER_QUEUED" as const);

export async function stateOf(db: Db, id: string): Promise<OperationState | undefined> {
  return (await db.selectFrom("operations").select("state").where("id", "=", id).executeTakeFirst())?.state;
}

async function insert(db: Db, next: NewReservation, created_at: number): Promise<void> {
  const { id, nullifier, digest, bundle, recipient, client, expiresAt: expires_at, validUntil: valid_until } = next;
  await db
    .insertInto("reservations")
    .values({
      id,
      nullifier,
      digest,
      bundle,
      recipient,
      client,
      expires_at,
      valid_until,
      created_at,
      trace: next.trace ?? null,
    })
    .execute();
  await db.insertInto("claims").values({ nullifier, holder: id, digest, queued: 0, expires_at }).execute();
}

async function find(db: Db, id: string): Promise<Reservation | undefined> {
  const row = await db.selectFrom("reservations").selectAll().where("id", "=", id).executeTakeFirst();
  if (row === undefined) return undefined;
  const { nullifier, digest, bundle, recipient, client } = row;
  const times = { expiresAt: row.expires_at, validUntil: row.valid_until, createdAt: row.created_at };
  return { id, nullifier, digest, bundle, recipient, client, ...times, trace: row.trace ?? undefined };
}
