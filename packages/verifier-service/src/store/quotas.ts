import type { Database } from "./database.ts";
import { expectRecord } from "./errors.ts";
import type { Db } from "./schema.ts";

export interface Quota {
  /** For example `recipient:0x..` or `client:..`. */
  key: string;
  /** Most uses in a window. */
  limit: number;
  /** Length of a window, ms. */
  window: number;
}

export interface QuotaResult {
  allowed: boolean;
  /** Uses left in this window. */
  remaining: number;
  /** When the next window begins, ms. */
  resetAt: number;
}

/** It would be one too many, until `resetAt` (ms). */
export interface Exceeded {
  kind: "exceeded";
  quota: Quota;
  resetAt: number;
}

/** What a transaction locks that counts for a quota. */
export const quotaKeys = (quota: Quota | undefined): string[] => (quota === undefined ? [] : [`quota:${quota.key}`]);

/**
 * Counts a use with what it is for: what was there before, or never comes to be, counts for nobody.
 * @param db a transaction that has locked `quotaKeys`
 */
export async function expectUse(db: Db, quota: Quota | undefined, now: number): Promise<Exceeded | undefined> {
  const counted = quota && (await countUse(db, quota, now));
  return quota && counted?.allowed === false ? { kind: "exceeded", quota, resetAt: counted.resetAt } : undefined;
}

async function countUse(db: Db, { key, limit, window }: Quota, now: number): Promise<QuotaResult> {
  const valid = Number.isSafeInteger(limit) && limit >= 0 && Number.isSafeInteger(window) && window > 0;
  expectRecord(valid, "a quota has a limit of 0 or more and a window in ms");
  const window_start = Math.floor(now / window) * window;
  const resetAt = window_start + window;
  const row = await db
    .selectFrom("quotas")
    .select("used")
    .where("key", "=", key)
    .where("window_start", "=", window_start)
    .executeTakeFirst();
  const used = row?.used ?? 0;
  if (used >= limit) return { allowed: false, remaining: 0, resetAt };
  const next = db.insertInto("quotas").values({ key, window_start, used: used + 1 });
  await next.onConflict((c) => c.columns(["key", "window_start"]).doUpdateSet({ used: used + 1 })).execute();
  return { allowed: true, remaining: limit - used - 1, resetAt };
}

export function quotaRepository(database: Database, clock: () => number) {
  return {
    /** Counts one use, or none where that would be one too many. Shared by all replicas. */
    take: (quota: Quota): Promise<QuotaResult> =>
      database.transaction(quotaKeys(quota), (db) => countUse(db, quota, clock())),

    /** Forgets windows that began before a time. */
    async sweep(before: number): Promise<void> {
      await database.db.deleteFrom("quotas").where("window_start", "<", before).execute();
    },
  };
}
