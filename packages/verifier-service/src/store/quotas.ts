import type { Database } from "./database.ts";
import { expectRecord } from "./errors.ts";

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

export function quotaRepository(database: Database, clock: () => number) {
  const startOf = (window: number) => Math.floor(clock() / window) * window;
  return {
    /** Counts one use, or none where that would be one too many. Shared by all replicas. */
    take({ key, limit, window }: Quota): Promise<QuotaResult> {
      const valid = Number.isSafeInteger(limit) && limit >= 0 && Number.isSafeInteger(window) && window > 0;
      expectRecord(valid, "a quota has a limit of 0 or more and a window in ms");
      const window_start = startOf(window);
      const resetAt = window_start + window;
      return database.transaction([`quota:${key}`], async (db) => {
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
      });
    },

    /** Forgets windows that began before a time. */
    async sweep(before: number): Promise<void> {
      await database.db.deleteFrom("quotas").where("window_start", "<", before).execute();
    },
  };
}
