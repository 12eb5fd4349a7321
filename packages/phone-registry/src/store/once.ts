import type { KeyRing } from "../crypto/key-ring.ts";
import type { Db } from "./schema.ts";

/** What is accepted once: the digest of a signed struct, a wallet's nonce. Kept only as a keyed hash. */
export type OnceKind = "link" | "unlink" | "nonce";

/**
 * Whether it was used. Looked for under all index keys, because a hash cannot be made anew under another.
 */
export async function wasUsed(db: Db, ring: KeyRing, kind: OnceKind, parts: readonly string[]): Promise<boolean> {
  const keys = ring.blinds("once", [kind, ...parts]);
  const row = await db.selectFrom("phone_once").select("key").where("key", "in", keys).executeTakeFirst();
  return row !== undefined;
}

/**
 * Uses it up. Of many that try at once one is told true.
 * @param expiresAt ms: until when it has to be remembered
 */
export async function useUp(
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
