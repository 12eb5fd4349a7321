import { assertHead } from "../crypto/head.ts";
import { RegistryError } from "../errors.ts";
import { accept, type LedgerState, readLedger, termsOf } from "../store/ledger.ts";
import { entryOf, headOf, placeOf, rows } from "../store/records.ts";
import type { Db } from "../store/schema.ts";
import type { Context } from "./context.ts";
import type { CheckOptions, CheckResult } from "./phone-registry.ts";

const PAGE = 500;
const ATTEMPTS = 3;

interface Counted {
  readonly sum: bigint;
  readonly links: number;
  readonly heads: number;
}

export async function check(context: Context, options: CheckOptions = {}): Promise<CheckResult> {
  const { database, ring } = context;
  if (options.accept === true)
    return database.transaction([], async (db) => {
      const state = await accept(db, ring, async () => {
        // A link that another program deleted leaves its head behind, which would be reported forever.
        const present = db.selectFrom("phone_mappings").select("id");
        await db.deleteFrom("phone_heads").where("id", "not in", present).execute();
        return count(context, db);
      });
      return resultOf(state);
    });
  // On SQLite a snapshot blocks lookups, so it is the last resort after some attempts without one.
  for (let attempt = 0; database.kind === "sqlite" && attempt < ATTEMPTS; attempt += 1) {
    const before = await readLedger(database.db, ring);
    const counted = await count(context, database.db);
    const after = await readLedger(database.db, ring);
    if (before.changes === after.changes) return compare(after, counted);
  }
  return database.snapshot(async (db) => compare(await readLedger(db, ring), await count(context, db)));
}

/** @throws RegistryError RECORD_TAMPERED if a link does not match its head */
async function count({ ring }: Context, db: Db): Promise<Counted> {
  let sum = 0n;
  let links = 0;
  for (let after = ""; ; ) {
    const page = await rows(db).where("m.id", ">", after).orderBy("m.id").limit(PAGE).execute();
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.id;
    for (const row of page) assertHead(ring, placeOf(row), headOf(row));
    sum = (sum + termsOf(ring, page.map(entryOf))) % (1n << 256n);
    links += page.length;
  }
  const query = db.selectFrom("phone_heads").select((eb) => eb.fn.countAll().as("count"));
  return { sum, links, heads: Number((await query.executeTakeFirstOrThrow()).count) };
}

function compare(state: LedgerState, { sum, links, heads }: Counted): CheckResult {
  if (sum !== state.sum || links !== state.links || heads !== links)
    throw new RegistryError("RECORD_TAMPERED", "the links are not those that the registry wrote");
  return resultOf(state);
}

const resultOf = ({ links, changes }: CheckResult): CheckResult => ({ links, changes });
