import { expectHead } from "../crypto/head.ts";
import { accept, lockLedger, termsOf } from "../store/ledger.ts";
import { entryOf, headOf, placeOf, rows } from "../store/records.ts";
import type { Db } from "../store/schema.ts";
import type { Context } from "./context.ts";
import { RegistryError } from "./errors.ts";
import type { CheckOptions, CheckResult } from "./types.ts";

const PAGE = 1_000;

export async function check({ database, ring }: Context, options: CheckOptions = {}): Promise<CheckResult> {
  return database.transaction([], async (db) => {
    // Locked first: what is read below is what the account is about.
    const state = await lockLedger(db, ring);
    let sum = 0n;
    let links = 0;
    for (let after = ""; ; ) {
      const page = await rows(db).where("m.id", ">", after).orderBy("m.id").limit(PAGE).execute();
      const last = page.at(-1);
      if (last === undefined) break;
      after = last.id;
      for (const row of page) expectHead(ring, placeOf(row), headOf(row));
      sum = (sum + termsOf(ring, page.map(entryOf))) % (1n << 256n);
      links += page.length;
    }
    if (options.accept === true) return resultOf(await accept(db, ring, links, sum));
    if (sum !== state.sum || links !== state.links || (await countHeads(db)) !== links)
      throw new RegistryError("RECORD_TAMPERED", "the links are not those the registry wrote");
    return resultOf(state);
  });
}

const resultOf = ({ links, changes }: CheckResult): CheckResult => ({ links, changes });

async function countHeads(db: Db): Promise<number> {
  const query = db.selectFrom("phone_heads").select((eb) => eb.fn.countAll().as("count"));
  return Number((await query.executeTakeFirstOrThrow()).count);
}
