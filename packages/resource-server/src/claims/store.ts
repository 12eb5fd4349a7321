// Who may use a payment: one handler at a time, three at most, and one that answers. In one store for all servers of a
// wallet, so that five identical headers at once, wherever they arrive, run one handler.
import { type Database, openDatabase } from "@sotto/database";
import type { Bytes32 } from "@sotto/protocol";
import { CLAIM_MIGRATIONS, type ClaimSchema } from "./schema.ts";

/** ms a crash holds a payment back: who holds it renews it three times in this time. */
export const LEASE_MS = 30_000;
/** Handlers one payment starts at most. */
export const MOST_TRIES = 3;
/** ms a payment is kept beyond what its header is fresh: a clock that is ahead for hours and put right opens none again. */
const KEPT_MS = 86_400_000;
const SWEEP_MS = 60_000;

/** A payment to be used. */
export interface ClaimRequest {
  readonly id: string;
  readonly digest: Bytes32;
  readonly resource: string;
  /** ms: from then on its header is refused anyway. */
  readonly expiresAt: number;
}

/** held: by another handler, which may yet fail. used: for good. */
export type Claimed = "claimed" | "held" | "used";

export interface ClaimStoreOptions {
  /** `sqlite:PATH`, `sqlite::memory:`, `postgres://..` */
  readonly url: string;
  readonly clock: () => number;
  readonly leaseMs?: number;
  readonly keptMs?: number;
  /** Told of what goes wrong behind requests. */
  readonly onError: (error: unknown) => void;
}

export class ClaimStore {
  readonly leaseMs: number;
  readonly keptMs: number;
  readonly #database: Database<ClaimSchema>;
  readonly #sweeper: NodeJS.Timeout;

  private constructor(
    database: Database<ClaimSchema>,
    { leaseMs = LEASE_MS, keptMs = KEPT_MS, onError }: ClaimStoreOptions,
  ) {
    this.#database = database;
    this.leaseMs = leaseMs;
    this.keptMs = keptMs;
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

  /** Takes a payment for one handler. Stored before that runs. */
  async claim({ id, digest, resource, expiresAt }: ClaimRequest, holder: string): Promise<Claimed> {
    return this.#database.transaction([id], async (db) => {
      const now = await this.#database.now(db);
      // By the clock that sweeps: what it has swept is not taken for new.
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
      // What no handler ran for may have been no payment at all: it does not stand in the way of one of the same note.
      const other = row.tries > 0 && (row.digest !== digest || row.resource !== resource);
      if (row.tries >= MOST_TRIES || other) return "used";
      const expires_at = Math.max(row.expires_at, expiresAt);
      const changes = { ...held, digest, resource, tries: row.tries + 1, expires_at };
      await db.updateTable("payment_claim").set(changes).where("id", "=", id).execute();
      return "claimed";
    });
  }

  /** @returns whether it was still held */
  async renew(id: string, holder: string): Promise<boolean> {
    const lease_until = (await this.#database.now()) + this.leaseMs;
    return this.#change(id, holder, { lease_until });
  }

  /** Gives a payment back. */
  async release(id: string, holder: string): Promise<boolean> {
    return this.#change(id, holder, { state: "free" });
  }

  /** An answer was given for it: nobody gets another, whoever holds it by now. */
  async consume(id: string): Promise<void> {
    await this.#database.db.updateTable("payment_claim").set({ state: "used" }).where("id", "=", id).execute();
  }

  /** Gives a payment back of which nobody knows yet whether it is settled: no handler ran. */
  async putBack(id: string, holder: string): Promise<void> {
    await this.#held(id, holder)
      .set((row) => ({ state: "free" as const, tries: row("tries", "-", 1) }))
      .execute();
  }

  /** Forgets what turned out to be no payment, so that it cannot stand in the way of one of the same note. */
  async forget(id: string, holder: string): Promise<void> {
    const { db } = this.#database;
    const first = db.deleteFrom("payment_claim").where("id", "=", id).where("holder", "=", holder);
    await first.where("state", "=", "held").where("tries", "=", 1).execute();
    await this.putBack(id, holder);
  }

  /** Gives a payment back that was stored as used before its handler failed. */
  async reopen(id: string, holder: string): Promise<void> {
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

  /** Forgets payments whose headers have long been too old to be shown. */
  async sweep(): Promise<void> {
    const latest = (await this.#database.now()) - this.keptMs;
    await this.#database.db.deleteFrom("payment_claim").where("expires_at", "<=", latest).execute();
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    await this.#database.close();
  }
}
