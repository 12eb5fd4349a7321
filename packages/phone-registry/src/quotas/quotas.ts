// Counters of fixed time windows in the database, shared by all replicas and kept across restarts.
import type { KeyRing } from "../crypto/key-ring.ts";
import { RegistryError, type RegistryErrorCode } from "../errors.ts";
import type { Db, RegistryDatabase } from "../store/schema.ts";
import type { Rate } from "./rate.ts";

/** The things that are counted, as error messages name them. */
const COUNTED = {
  "code-number": "codes for one number",
  "code-linked": "codes for one number and the wallet it is linked to",
  "code-wallet": "codes for one wallet",
  "code-client": "codes for one network address",
  "code-total": "codes in total",
  "code-open-total": "codes in total, except those reserved for wallets whose number is linked",
  "try-client": "codes tried, links renewed and links deleted by one network address",
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

/** One use to count. */
export interface Use {
  /** Identifies the counter together with the subject. */
  readonly scope: keyof typeof COUNTED;
  readonly subject: string;
  readonly rates: readonly Rate[];
}

/** The used share of each scope's narrowest limit, 0 to 1. */
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
  // A fixed order of rows, so that two transactions with the same counters cannot deadlock.
  return counters.sort((a, b) => (a.key < b.key ? -1 : 1));
}

/**
 * Counts one use in every window. If a limit is exceeded it throws, and the transaction counts nothing.
 * @param code the code of the error
 * @returns the used share of each scope
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
 * Undoes `amount` (0 or 1) uses with the same work in both cases. SQLite skips writes that change nothing, and the
 * timing would reveal that, so this always subtracts one use and then adds 1 - `amount`.
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

/** Deletes a subject's counters in the current windows. @returns how many there were */
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

/** Counts a use in its own transaction. */
export const takeInTransaction = (
  database: RegistryDatabase,
  ring: KeyRing,
  uses: readonly Use[],
  now: number,
  code: RegistryErrorCode,
): Promise<Shares> => database.transaction([], (db) => take(db, ring, uses, now, code));
