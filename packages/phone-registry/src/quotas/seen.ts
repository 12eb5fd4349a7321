// Which numbers an asker has been told about. It may ask for them again without end, because it learns nothing new.
import type { KeyRing } from "../crypto/key-ring.ts";
import type { Db } from "../store/schema.ts";

const DAY_MS = 86_400_000;

/** Who asks for which number. */
export interface Asked {
  /** The network address, or the wallet if lookups are signed. */
  readonly who: string;
  readonly phone: string;
}

/** What a row says, packed into its count: an update that changes the count alone costs the same for every number. */
interface Note {
  readonly day: number;
  /** Whether a link was shown. */
  readonly answered: boolean;
  /** Differs after each write: SQLite leaves out writes that change nothing, and the disk would tell numbers apart. */
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

/** What to lock: a number that an asker asks for twice at once counts once. */
export const seenLock = (ring: KeyRing, asked: Asked): string => `phone-seen:${keyOf(ring, asked)}`;

/**
 * Notes that the asker asks for the number.
 * @param db a transaction that has locked `seenLock`
 * @returns whether the asker has asked for it today, or was shown its link yesterday: who pays a number every day never
 *   counts as new
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

/** Records whether the asker was shown a link. @param db a transaction that has locked `seenLock` */
export async function noteAnswer(db: Db, ring: KeyRing, asked: Asked, now: number, answered: boolean): Promise<void> {
  const row = db.updateTable("phone_quotas").where("key", "=", keyOf(ring, asked));
  const day = Math.floor(now / DAY_MS);
  const even = pack({ day, answered, parity: 0 });
  // The parity that the row does not have now.
  await row.set((eb) => ({ used: eb(eb.val(even + 1), "-", eb.parens("used", "&", 1)) })).execute();
}
