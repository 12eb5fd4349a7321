// The numbers that a client has looked up. Repeated lookups of the same numbers are not limited, because they reveal
// nothing new.
import type { KeyRing } from "../crypto/key-ring.ts";
import type { Db } from "../store/schema.ts";

const DAY_MS = 86_400_000;

/** A lookup. */
export interface Asked {
  /** The network address, or the wallet if lookups are signed. */
  readonly who: string;
  readonly phone: string;
}

/** What a row says. It is encoded in the row's count, because updating a count takes the same time for every number. */
interface Note {
  readonly day: number;
  /** Whether a link was shown. */
  readonly answered: boolean;
  /** Changes with each write: SQLite skips writes that change nothing, and the timing would distinguish numbers. */
  readonly parity: 0 | 1;
}

const pack = ({ day, answered, parity }: Note): number => day * 4 + (answered ? 2 : 0) + parity;
const unpack = (used: number): Note => ({
  day: Math.floor(used / 4),
  answered: (used & 2) !== 0,
  parity: (used & 1) as Note["parity"],
});
const other = (parity: Note["parity"]): Note["parity"] => (parity === 0 ? 1 : 0);

const keyOf = (ring: KeyRing, { who, phone }: Asked): string => ring.blind("quota", ["lookup-seen", who, phone]);

/** The lock that makes two concurrent lookups of one number by one client count once. */
export const seenLock = (ring: KeyRing, asked: Asked): string => `phone-seen:${keyOf(ring, asked)}`;

/**
 * Records a lookup.
 * @param db a transaction that holds `seenLock`
 * @returns whether the client looked the number up today, or got its link yesterday; so a client that pays a number every day
 *   never counts as new
 */
export async function noteAsked(db: Db, ring: KeyRing, asked: Asked, now: number): Promise<boolean> {
  const key = keyOf(ring, asked);
  const row = await db.selectFrom("phone_quotas").select("used").where("key", "=", key).executeTakeFirst();
  const before = unpack(row?.used ?? 0);
  const today = Math.floor(now / DAY_MS);
  const seen = before.day === today || (before.answered && before.day === today - 1);
  const note = { day: today, answered: seen && before.answered, parity: other(before.parity) };
  const values = { key, index_key: ring.index.id, used: pack(note), ends_at: (today + 2) * DAY_MS };
  const insert = db.insertInto("phone_quotas").values(values);
  await insert.onConflict((conflict) => conflict.column("key").doUpdateSet(values)).execute();
  return seen;
}

/** Records whether the lookup returned a link. @param db a transaction that holds `seenLock` */
export async function noteAnswer(db: Db, ring: KeyRing, asked: Asked, now: number, answered: boolean): Promise<void> {
  const row = db.updateTable("phone_quotas").where("key", "=", keyOf(ring, asked));
  const day = Math.floor(now / DAY_MS);
  const even = pack({ day, answered, parity: 0 });
  // Sets the other parity.
  await row.set((eb) => ({ used: eb(eb.val(even + 1), "-", eb.parens("used", "&", 1)) })).execute();
}
