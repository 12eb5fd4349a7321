// Grants claims: a payment runs one handler at a time, at most three in total, and gets one successful response. All
// servers of a wallet share one store, so five identical concurrent headers run one handler.
import { type Database, openDatabase } from "@sotto/database";
import type { Bytes32 } from "@sotto/protocol";
import { CLAIM_MIGRATIONS, type ClaimSchema } from "./schema.ts";

/**
 * Lease of a claim, ms: after a crash the payment is unavailable for this long. The holder renews it three times per
 * lease.
 */
const LEASE_MS = 30_000;
/** Maximum number of handlers that one payment may start. */
const MAX_HANDLERS = 3;
/** How long a row outlives its header, ms: correcting a clock that was hours ahead must not reopen a used payment. */
const RETENTION_MS = 86_400_000;
const SWEEP_MS = 60_000;

/** A payment to acquire. */
export interface ClaimRequest {
  readonly id: string;
  readonly digest: Bytes32;
  readonly resource: string;
  /** When its header becomes too old to be accepted, ms. */
  readonly expiresAt: number;
}

/** held: another handler runs, and may still fail. used: permanent. */
export type Claimed = "claimed" | "held" | "used";

export interface ClaimStoreOptions {
  /** `sqlite:PATH`, `sqlite::memory:`, `postgres://..` */
  readonly url: string;
  readonly clock: () => number;
  readonly leaseMs?: number;
  readonly retentionMs?: number;
  /** Receives errors of background work. */
  readonly onError: (error: unknown) => void;
}

export class ClaimStore {
  readonly leaseMs: number;
  readonly retentionMs: number;
  readonly #database: Database<ClaimSchema>;
  readonly #sweeper: NodeJS.Timeout;

  private constructor(
    database: Database<ClaimSchema>,
    { leaseMs = LEASE_MS, retentionMs = RETENTION_MS, onError }: ClaimStoreOptions,
  ) {
    this.#database = database;
    this.leaseMs = leaseMs;
    this.retentionMs = retentionMs;
    this.#sweeper = setInterval(() => void this.sweep().catch(onError), SWEEP_MS).unref();
  }

  /** @throws DatabaseError INVALID_STORE_URL, STORE_UNAVAILABLE, STORE_TOO_NEW */
  static async open(options: ClaimStoreOptions): Promise<ClaimStore> {
    const { url, clock, onError } = options;
    const tables = { url, clock, onError, name: "paywall", migrations: CLAIM_MIGRATIONS };
    return new ClaimStore(await openDatabase<ClaimSchema>(tables), options);
  }

  /** Whether a payment can never be used again. */
  async isUsed(id: string): Promise<boolean> {
    const row = await this.#database.db
      .selectFrom("payment_claim")
      .select(["state"])
      .where("id", "=", id)
      .executeTakeFirst();
    return row?.state === "used";
  }

  /** Acquires a payment for one handler, and stores the claim before the handler runs. */
  async claim({ id, digest, resource, expiresAt }: ClaimRequest, holder: string): Promise<Claimed> {
    return this.#database.transaction([id], async (db) => {
      const now = await this.#database.now(db);
      // Uses the same clock as `sweep`: a payment that `sweep` deleted must not count as new.
      if (now >= expiresAt) return "used";
      const row = await db.selectFrom("payment_claim").selectAll().where("id", "=", id).executeTakeFirst();
      const lease_until = now + this.leaseMs;
      const held = { state: "held" as const, holder, lease_until };
      if (row === undefined) {
        const values = { ...held, id, digest, resource, tries: 1, expires_at: expiresAt };
        await db.insertInto("payment_claim").values(values).execute();
        return "claimed";
      }
      if (row.state === "used") return "used";
      if (row.state === "held" && row.lease_until > now) return "held";
      // A row without a started handler may come from an invalid payment: it must not block a valid payment that spends
      // the same note.
      const other = row.tries > 0 && (row.digest !== digest || row.resource !== resource);
      if (row.tries >= MAX_HANDLERS || other) return "used";
      const expires_at = Math.max(row.expires_at, expiresAt);
      const changes = { ...held, digest, resource, tries: row.tries + 1, expires_at };
      await db.updateTable("payment_claim").set(changes).where("id", "=", id).execute();
      return "claimed";
    });
  }

  /** @returns whether the claim was still held */
  async renew(id: string, holder: string): Promise<boolean> {
    const lease_until = (await this.#database.now()) + this.leaseMs;
    return this.#change(id, holder, { lease_until });
  }

  /** Releases a payment after its handler failed. @returns whether the claim was still held */
  async release(id: string, holder: string): Promise<boolean> {
    return this.#change(id, holder, { state: "free" });
  }

  /** Marks a payment as used after a successful response, even if another handler has acquired it meanwhile. */
  async consume(id: string): Promise<void> {
    await this.#database.db.updateTable("payment_claim").set({ state: "used" }).where("id", "=", id).execute();
  }

  /** Releases a payment without counting the attempt: no handler ran, because its settlement is not known. */
  async releaseUncounted(id: string, holder: string): Promise<void> {
    await this.#held(id, holder)
      .set((row) => ({ state: "free" as const, tries: row("tries", "-", 1) }))
      .execute();
  }

  /** Deletes the claim of an invalid payment, so that it does not block a valid payment that spends the same note. */
  async reject(id: string, holder: string): Promise<void> {
    const { db } = this.#database;
    const firstAttempt = db.deleteFrom("payment_claim").where("id", "=", id).where("holder", "=", holder);
    await firstAttempt.where("state", "=", "held").where("tries", "=", 1).execute();
    await this.releaseUncounted(id, holder);
  }

  /** Restores a payment that was stored as used before its handler failed. */
  async restore(id: string, holder: string): Promise<void> {
    const used = this.#database.db.updateTable("payment_claim").set({ state: "free" }).where("id", "=", id);
    await used.where("holder", "=", holder).where("state", "=", "used").execute();
  }

  #held(id: string, holder: string) {
    const held = this.#database.db.updateTable("payment_claim").where("id", "=", id).where("holder", "=", holder);
    return held.where("state", "=", "held");
  }

  async #change(id: string, holder: string, values: { state?: "free"; lease_until?: number }): Promise<boolean> {
    const { numUpdatedRows } = await this.#database.db
      .updateTable("payment_claim")
      .set(values)
      .where("id", "=", id)
      .where("holder", "=", holder)
      .where("state", "=", "held")
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** Deletes payments whose headers expired more than `retentionMs` ago. */
  async sweep(): Promise<void> {
    const latest = (await this.#database.now()) - this.retentionMs;
    await this.#database.db.deleteFrom("payment_claim").where("expires_at", "<=", latest).execute();
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    await this.#database.close();
  }
}
