// Re-encrypts every link under the current keys while servers run. The rows themselves record the progress, so that the
// rotation resumes after a crash.
import { record as audit } from "../audit/audit.ts";
import { rewrap } from "../crypto/envelope.ts";
import { sealHead } from "../crypto/head.ts";
import { RegistryError } from "../errors.ts";
import { keysInUse } from "../store/keys.ts";
import { updateLedger } from "../store/ledger.ts";
import type { MappingRow } from "../store/link-record.ts";
import { entryOf, openRow, placeOf, rows } from "../store/records.ts";
import type { Db } from "../store/schema.ts";
import type { Context } from "./context.ts";
import type { RotateOptions, RotationState } from "./phone-registry.ts";

const BATCH = 100;

export async function rotate(context: Context, { batch = BATCH, signal }: RotateOptions = {}): Promise<RotationState> {
  if (!Number.isSafeInteger(batch) || batch < 1 || batch > 1_000)
    throw new RegistryError("INVALID_REQUEST", "a batch must have 1 to 1000 records", { field: "batch" });
  const { database, ring, clock } = context;
  let refused = 0;
  let after = "";
  while (signal?.aborted !== true) {
    const page = await outdated(context, database.db).where("m.id", ">", after).orderBy("m.id").limit(batch).execute();
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.id;
    // The same locks as for linking, so that nothing else writes these rows.
    refused += await database.transaction(
      page.map(({ number }) => number),
      (db) =>
        renewAll(
          context,
          db,
          page.map(({ id }) => id),
        ),
    );
  }
  // Re-encrypts the ledger, even if there is no link.
  if (signal?.aborted !== true) await database.transaction([], (db) => updateLedger(db, ring, [], []));
  const state = await rotation(context);
  // Purges the database file of data that older master keys wrapped.
  await database.scrub();
  await audit(database.db, ring, { action: "rotate", outcome: refused === 0 ? "ok" : "RECORD_TAMPERED" }, clock());
  return { ...state, refused };
}

/** Rows that contain something made with older keys. */
function outdated({ ring }: Context, db: Db) {
  return rows(db).where((eb) =>
    eb.or([
      eb("m.master_key", "<>", ring.master.id),
      eb("m.index_key", "<>", ring.index.id),
      eb("h.master_key", "<>", ring.master.id),
    ]),
  );
}

/** @returns how many could not be decrypted */
async function renewAll(context: Context, db: Db, ids: readonly string[]): Promise<number> {
  const { ring } = context;
  const renewed: MappingRow[] = [];
  let refused = 0;
  for (const row of await outdated(context, db).where("m.id", "in", ids).execute())
    try {
      await renew(context, db, row);
      renewed.push(row);
    } catch (error) {
      if (!(error instanceof RegistryError)) throw error;
      // A tampered record stays unchanged and does not stop the others.
      context.options.log?.error(
        { id: row.id, code: error.code },
        "a record cannot be re-encrypted under the current keys",
      );
      refused += 1;
    }
  const added = renewed.map((row) => ({ ...entryOf(row), master_key: ring.master.id }));
  await updateLedger(db, ring, renewed.map(entryOf), added);
  return refused;
}

async function renew({ ring, records }: Context, db: Db, row: MappingRow): Promise<void> {
  const record = openRow(ring, row);
  const place = placeOf(row);
  const master_key = ring.master.id;
  await db
    .updateTable("phone_mappings")
    .set({
      master_key,
      envelope: rewrap(ring, place, row.master_key, row.envelope),
      index_key: ring.index.id,
      number: ring.blind("number", [record.phone]),
      slot: records.slot(record, place.verified),
    })
    .where("id", "=", row.id)
    .execute();
  await db
    .updateTable("phone_heads")
    .set({ master_key, seal: sealHead(ring, place) })
    .where("id", "=", row.id)
    .execute();
}

export async function rotation({ database, ring }: Context): Promise<RotationState> {
  const { db } = database;
  const count = async (table: "phone_mappings" | "phone_heads", column: "master_key" | "index_key", id: string) => {
    const query = db.selectFrom(table).select((eb) => eb.fn.countAll().as("count"));
    // Only phone_mappings has both columns.
    return Number((await query.where(column as "master_key", "<>", id).executeTakeFirstOrThrow()).count);
  };
  const fadingIds = new Set<string>();
  let fading = 0;
  for (const table of ["phone_once", "phone_codes", "phone_quotas"] as const) {
    const query = db.selectFrom(table).select(["index_key", (eb) => eb.fn.countAll().as("count")]);
    for (const row of await query.where("index_key", "<>", ring.index.id).groupBy("index_key").execute()) {
      fading += Number(row.count);
      fadingIds.add(row.index_key);
    }
  }
  const used = await keysInUse(db);
  const older = [
    ...ring.masters.slice(1).map(({ id }) => ({ name: `master:${id}`, free: !used.masters.includes(id) })),
    ...ring.indexes
      .slice(1)
      .map(({ id }) => ({ name: `index:${id}`, free: !used.indexes.includes(id) && !fadingIds.has(id) })),
  ];
  const mappings = await count("phone_mappings", "master_key", ring.master.id);
  const heads = await count("phone_heads", "master_key", ring.master.id);
  return {
    master: Math.max(mappings, heads),
    index: await count("phone_mappings", "index_key", ring.index.id),
    fading,
    unused: older.filter(({ free }) => free).map(({ name }) => name),
    refused: 0,
  };
}
