import type { Exceeded, Quota } from "@sotto/server";
import type { Database } from "./database.ts";
import { assertRecord } from "./errors.ts";
import type { Db } from "./schema.ts";

export interface QuotaResult {
  allowed: boolean;
  /** Remaining uses in this window. */
  remaining: number;
  /** When the next window begins, ms. */
  resetAt: number;
}

/** The locks of a transaction that counts uses. */
export const quotaKeys = (quotas: readonly Quota[]): string[] => quotas.map(({ key }) => `quota:${key}`);

/**
 * Counts one use of every quota, or of none if one of them is exhausted.
 * @param db a transaction that holds the locks `quotaKeys`
 */
export async function takeUses(db: Db, quotas: readonly Quota[], now: number): Promise<Exceeded | undefined> {
  for (const quota of quotas) {
    assertQuota(quota);
    const { start, end } = windowOf(quota, now);
    const used = await usesOf(db, quota.key, start);
    if (used >= quota.limit || used + countOf(quota) > quota.limit) return { kind: "exceeded", quota, resetAt: end };
  }
  await chargeUses(db, quotas, now);
  return undefined;
}

/** The uses to count. One that is worth more than a whole window takes all of it. */
const countOf = ({ uses = 1, limit }: Quota): number => Math.max(1, Math.min(uses, limit));

/** Counts one use of every quota, even beyond its limit. */
export async function chargeUses(db: Db, quotas: readonly Quota[], now: number): Promise<void> {
  // In a fixed order, so that two transactions never wait for each other's rows.
  for (const quota of quotas.toSorted((a, b) => (a.key < b.key ? -1 : 1))) {
    const used = countOf(quota);
    const row = db.insertInto("quotas").values({ key: quota.key, window_start: windowOf(quota, now).start, used });
    await row
      .onConflict((c) =>
        c.columns(["key", "window_start"]).doUpdateSet((eb) => ({ used: eb("quotas.used", "+", used) })),
      )
      .execute();
  }
}

async function usesOf(db: Db, key: string, window_start: number): Promise<number> {
  const rows = db.selectFrom("quotas").select("used").where("key", "=", key).where("window_start", "=", window_start);
  return (await rows.executeTakeFirst())?.used ?? 0;
}

function windowOf({ window }: Quota, now: number): { start: number; end: number } {
  const start = Math.floor(now / window) * window;
  return { start, end: start + window };
}

function assertQuota({ limit, window, uses = 1 }: Quota): void {
  const counts = [limit, window, uses].every(Number.isSafeInteger);
  assertRecord(
    counts && limit >= 0 && window > 0 && uses > 0,
    "a quota must have a limit of 0 or more, a window in ms, and uses of 1 or more",
  );
}

async function take(db: Db, quota: Quota, now: number): Promise<QuotaResult> {
  const exceeded = await takeUses(db, [quota], now);
  if (exceeded !== undefined) return { allowed: false, remaining: 0, resetAt: exceeded.resetAt };
  const { start, end } = windowOf(quota, now);
  return { allowed: true, remaining: quota.limit - (await usesOf(db, quota.key, start)), resetAt: end };
}

export function quotaRepository(database: Database, clock: () => number) {
  return {
    /** Counts one use unless the quota is exhausted. All replicas share the counts. */
    take: (quota: Quota): Promise<QuotaResult> =>
      database.transaction(quotaKeys([quota]), (db) => take(db, quota, clock())),

    /** Counts one use of every quota, or of none if one is exhausted. @returns the exhausted quota */
    takeAll: (quotas: readonly Quota[]): Promise<Exceeded | undefined> =>
      database.transaction(quotaKeys(quotas), (db) => takeUses(db, quotas, clock())),

    /** The locks of a transaction that calls `takeWithin`. */
    locks: quotaKeys,

    /** Counts like `takeAll` within a transaction that holds the locks. */
    takeWithin: (db: Db, quotas: readonly Quota[]): Promise<Exceeded | undefined> => takeUses(db, quotas, clock()),

    /** Deletes windows that began before this time. */
    async sweep(before: number): Promise<void> {
      await database.db.deleteFrom("quotas").where("window_start", "<", before).execute();
    },
  };
}
