import type { KeyRing } from "../crypto/key-ring.ts";
import type { Db } from "./schema.ts";

/** Remembers what is accepted only once: digests of signed structs, and wallets' nonces. Stored as keyed hashes. */
export type OnceKind = "link" | "unlink" | "nonce";

/** Whether it was used. Searched under all index keys, because hashes cannot be converted to a new key. */
export async function wasUsed(db: Db, ring: KeyRing, kind: OnceKind, parts: readonly string[]): Promise<boolean> {
  const keys = ring.blinds("once", [kind, ...parts]);
  const row = await db.selectFrom("phone_once").select("key").where("key", "in", keys).executeTakeFirst();
  return row !== undefined;
}

/**
 * Consumes it. Only one of several concurrent calls returns true.
 * @param expiresAt until when it is remembered, ms
 */
export async function consume(
  db: Db,
  ring: KeyRing,
  kind: OnceKind,
  parts: readonly string[],
  expiresAt: number,
): Promise<boolean> {
  if (await wasUsed(db, ring, kind, parts)) return false;
  const row = { key: ring.blind("once", [kind, ...parts]), index_key: ring.index.id, expires_at: expiresAt };
  const insert = db
    .insertInto("phone_once")
    .values(row)
    .onConflict((conflict) => conflict.doNothing());
  return (await insert.returning("key").execute()).length === 1;
}
