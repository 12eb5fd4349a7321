import type { KeyRing } from "../crypto/key-ring.ts";
import { RegistryError } from "../errors.ts";
import { beginLedger } from "./ledger.ts";
import type { Db } from "./schema.ts";

/**
 * Checks that the database was written with the keys of the ring. With a wrong index key every number would be unknown, without any
 * error.
 * @throws RegistryError KEY_MISMATCH, KEY_MISSING
 */
export async function assertKeys(db: Db, ring: KeyRing): Promise<void> {
  // Only in an empty database: if the ledger is deleted later, no new one is created.
  if ((await db.selectFrom("phone_keys").select("name").limit(1).execute()).length === 0) await beginLedger(db, ring);
  for (const [name, fingerprint] of ring.fingerprints) {
    const insert = db.insertInto("phone_keys").values({ name, fingerprint });
    await insert.onConflict((conflict) => conflict.doNothing()).execute();
    const row = await db.selectFrom("phone_keys").selectAll().where("name", "=", name).executeTakeFirst();
    if (row?.fingerprint !== fingerprint)
      throw new RegistryError(
        "KEY_MISMATCH",
        "a key of the ring differs from the key of the same id that wrote the database",
        { keys: name },
      );
  }
  const { masters, indexes } = await keysInUse(db);
  const missing = [
    ...masters.filter((id) => ring.masterOf(id) === undefined).map((id) => `master:${id}`),
    ...indexes.filter((id) => ring.indexOf(id) === undefined).map((id) => `index:${id}`),
  ];
  if (missing.length > 0)
    throw new RegistryError("KEY_MISSING", "the database contains records under keys that are not in the ring", {
      keys: missing.join(", "),
    });
}

/** Ids of the keys that links were written with. */
export async function keysInUse(db: Db): Promise<{ masters: string[]; indexes: string[] }> {
  const distinct = async (column: "master_key" | "index_key") =>
    (await db.selectFrom("phone_mappings").select(column).distinct().execute()).map((row) => row[column]);
  const heads = await db.selectFrom("phone_heads").select("master_key").distinct().execute();
  const ledger = await db.selectFrom("phone_ledger").select("master_key").execute();
  const others = [...heads, ...ledger].map(({ master_key }) => master_key);
  const masters = new Set([...(await distinct("master_key")), ...others]);
  return { masters: [...masters], indexes: await distinct("index_key") };
}
