// One-time codes: stored as keyed hashes, tried at most five times.
import { randomInt, timingSafeEqual } from "node:crypto";
import type { KeyRing } from "../crypto/key-ring.ts";
import type { Db, Row } from "../store/schema.ts";

const CODE_DIGITS = 6;
export const CODE_TRIES = 5;
export const CODE_LIFETIME_MS = 5 * 60_000;

/** The link that a code belongs to. A hash is valid for one row, number, wallet and expiry. */
export interface CodeOwner {
  readonly id: string;
  readonly phone: string;
  readonly wallet: string;
}

/** Six random digits. randomInt has no modulo bias. */
export const randomCode = (): string => String(randomInt(0, 10 ** CODE_DIGITS)).padStart(CODE_DIGITS, "0");

const parts = ({ id, phone, wallet }: CodeOwner, code: string, expiresAt: number) => [
  id,
  phone,
  wallet,
  expiresAt,
  code,
];

/** Stores a code and invalidates any older code. @returns its hash, which identifies it */
export async function storeCode(db: Db, ring: KeyRing, owner: CodeOwner, code: string, expiresAt: number) {
  const hash = ring.blind("code", parts(owner, code, expiresAt));
  const row = { mapping_id: owner.id, index_key: ring.index.id, hash, tries: 0, expires_at: expiresAt };
  const insert = db.insertInto("phone_codes").values(row);
  await insert.onConflict((conflict) => conflict.column("mapping_id").doUpdateSet(row)).execute();
  return hash;
}

/** Deletes a code that could not be sent, unless a newer one has replaced it. */
export async function dropCode(db: Db, id: string, hash: string): Promise<void> {
  await db.deleteFrom("phone_codes").where("mapping_id", "=", id).where("hash", "=", hash).execute();
}

export type Try = { readonly kind: "right" | "expired" | "exhausted" } | { readonly kind: "wrong"; triesLeft: number };

/**
 * Counts a try before it compares the code, so that at most five guesses are compared, even if they are concurrent. The
 * transaction must be committed for every result.
 */
export async function tryCode(db: Db, ring: KeyRing, owner: CodeOwner, code: string, now: number): Promise<Try> {
  const counted = await db
    .updateTable("phone_codes")
    .set((eb) => ({ tries: eb("tries", "+", 1) }))
    .where("mapping_id", "=", owner.id)
    .where("tries", "<", CODE_TRIES)
    .where("expires_at", ">", now)
    .returningAll()
    .executeTakeFirst();
  if (counted === undefined) return { kind: await whyNot(db, owner.id, now) };
  if (isRight(ring, owner, code, counted)) return { kind: "right" };
  return { kind: "wrong", triesLeft: CODE_TRIES - counted.tries };
}

async function whyNot(db: Db, id: string, now: number): Promise<"expired" | "exhausted"> {
  const row = await db.selectFrom("phone_codes").select("expires_at").where("mapping_id", "=", id).executeTakeFirst();
  return row !== undefined && row.expires_at > now ? "exhausted" : "expired";
}

function isRight(ring: KeyRing, owner: CodeOwner, code: string, row: Row<"phone_codes">): boolean {
  const key = ring.indexOf(row.index_key);
  if (key === undefined) return false;
  const expected = Buffer.from(ring.blind("code", parts(owner, code, row.expires_at), key));
  const stored = Buffer.from(row.hash);
  return expected.length === stored.length && timingSafeEqual(expected, stored);
}
