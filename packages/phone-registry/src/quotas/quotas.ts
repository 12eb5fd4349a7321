// Counters in fixed windows, in the store: all replicas count together, and a restart forgets nothing.
import type { KeyRing } from "../crypto/key-ring.ts";
import { RegistryError, type RegistryErrorCode } from "../errors.ts";
import type { Db, RegistryDatabase } from "../store/schema.ts";
import type { Rate } from "./rate.ts";

/** What is counted, as it is said to who meets the limit. */
const COUNTED = {
  "code-number": "codes for one number",
  "code-linked": "codes for one number and the wallet it is linked to",
  "code-wallet": "codes for one wallet",
  "code-client": "codes for one network address",
  "code-total": "codes in all",
  "code-open-total": "codes in all, beside those kept for wallets whose number is linked",
  "try-client": "codes tried, links renewed and links taken back by one network address",
  "lookup-client": "unknown numbers for one network address",
  "lookup-clientRange": "unknown numbers of one range for one payer",
  "lookup-caller": "unknown numbers for one wallet",
  "lookup-range": "unknown numbers of one range for all payers",
} as const;

const UNITS = [
  [86_400, "day"],
  [3_600, "hour"],
  [60, "minute"],
] as const;

function inWords(seconds: number): string {
  const [size, unit] = UNITS.find(([length]) => seconds % length === 0) ?? [1, "second"];
  return seconds === size ? (unit === "hour" ? "an hour" : `a ${unit}`) : `${seconds / size} ${unit}s`;
}

/** What is counted for whom. */
export interface Use {
  /** Together with the subject it names the counter. */
  readonly scope: keyof typeof COUNTED;
  readonly subject: string;
  readonly rates: readonly Rate[];
}

/** How much of its narrowest limit a scope has used, 0 to 1. */
export type Shares = ReadonlyMap<string, number>;

interface Counter {
  readonly scope: Use["scope"];
  readonly key: string;
  readonly rate: Rate;
  readonly endsAt: number;
}

function countersOf(ring: KeyRing, uses: readonly Use[], now: number): Counter[] {
  const counters = uses.flatMap(({ scope, subject, rates }) =>
    rates.map((rate) => {
      const window = rate.seconds * 1000;
      const start = Math.floor(now / window) * window;
      return { scope, rate, endsAt: start + window, key: ring.blind("quota", [scope, rate.seconds, start, subject]) };
    }),
  );
  // One order of rows for everybody: two transactions that count the same things cannot wait for each other.
  return counters.sort((a, b) => (a.key < b.key ? -1 : 1));
}

/**
 * Counts one use in every window, or throws; the transaction it runs in then counts nothing.
 * @param code of the error
 * @returns how near each scope is to its limit
 * @throws RegistryError with details.scope and details.resetAt (ms)
 */
export async function take(
  db: Db,
  ring: KeyRing,
  uses: readonly Use[],
  now: number,
  code: RegistryErrorCode,
): Promise<Shares> {
  const shares = new Map<string, number>();
  for (const { scope, key, rate, endsAt } of countersOf(ring, uses, now)) {
    const insert = db
      .insertInto("phone_quotas")
      .values({ key, index_key: ring.index.id, used: 1, ends_at: endsAt })
      .onConflict((conflict) =>
        conflict
          .column("key")
          .doUpdateSet((eb) => ({ used: eb("phone_quotas.used", "+", 1) }))
          .where("phone_quotas.used", "<", rate.limit),
      );
    const row = rate.limit > 0 ? await insert.returning("used").executeTakeFirst() : undefined;
    if (row === undefined) {
      const message = `limit exceeded: ${rate.limit} ${COUNTED[scope]} in ${inWords(rate.seconds)}`;
      throw new RegistryError(code, message, { scope: scope.split("-").at(-1)!, resetAt: endsAt });
    }
    shares.set(scope, Math.max(shares.get(scope) ?? 0, row.used / rate.limit));
  }
  return shares;
}

/**
 * Takes back `amount` (0 or 1) uses: the same work for both. SQLite leaves out writes that change nothing, and who waits
 * for the disk would tell them apart: so one is always taken back, and counted again where it was not to be.
 * @param db a transaction
 * @param at when they were counted, ms
 */
export async function undoTake(db: Db, ring: KeyRing, uses: readonly Use[], at: number, amount: 0 | 1): Promise<void> {
  for (const { key } of countersOf(ring, uses, at)) {
    const counter = db.updateTable("phone_quotas").where("key", "=", key);
    await counter
      .set((eb) => ({ used: eb("used", "-", 1) }))
      .where("used", ">", 0)
      .execute();
    await counter.set((eb) => ({ used: eb("used", "+", 1 - amount) })).execute();
  }
}

/** Forgets what was counted for a subject in the windows of now. @returns how many counters there were */
export async function forget(db: Db, ring: KeyRing, uses: readonly Use[], now: number): Promise<number> {
  const keys = uses.flatMap(({ scope, subject, rates }) =>
    rates.flatMap(({ seconds }) => {
      const window = seconds * 1000;
      return ring.blinds("quota", [scope, seconds, Math.floor(now / window) * window, subject]);
    }),
  );
  if (keys.length === 0) return 0;
  const gone = await db.deleteFrom("phone_quotas").where("key", "in", keys).returning("key").execute();
  return gone.length;
}

/** Counts in a transaction of its own. */
export const takeInTransaction = (
  database: RegistryDatabase,
  ring: KeyRing,
  uses: readonly Use[],
  now: number,
  code: RegistryErrorCode,
): Promise<Shares> => database.transaction([], (db) => take(db, ring, uses, now, code));
