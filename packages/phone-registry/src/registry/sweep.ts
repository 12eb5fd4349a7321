import type { Context } from "./context.ts";

const PAGE = 500;
/** Expired rows are kept this long, because the clock of another replica may be behind. */
const SLACK_MS = 60_000;

/** Deletes expired data. It may run on every replica at any time. */
export async function sweep(context: Context): Promise<void> {
  const { database, ring, limits, clock } = context;
  const { db } = database;
  const before = clock() - SLACK_MS;
  await sweepMappings(context, before);
  await db.deleteFrom("phone_codes").where("expires_at", "<=", before).execute();
  await db.deleteFrom("phone_once").where("expires_at", "<=", before).execute();
  await db.deleteFrom("phone_quotas").where("ends_at", "<=", before).execute();
  await db
    .deleteFrom("phone_audit")
    .where("at", "<=", before - limits.auditSeconds * 1000)
    .execute();
  // Pseudonyms under a removed key are useless, except to someone who has that key and tries numbers. So they are deleted.
  await db
    .updateTable("phone_audit")
    .set({ number: null, wallet: null, client: null })
    .where(
      "index_key",
      "not in",
      ring.indexes.map(({ id }) => id),
    )
    .where((eb) => eb.or([eb("number", "is not", null), eb("wallet", "is not", null), eb("client", "is not", null)]))
    .execute();
  await database.scrub();
}

async function sweepMappings({ database, records }: Context, before: number): Promise<void> {
  for (;;) {
    const over = database.db.selectFrom("phone_mappings").select(["id", "number"]).where("sweep_at", "<=", before);
    const page = await over.limit(PAGE).execute();
    if (page.length === 0) return;
    // Checked again under the locks of the numbers, because a number may have been linked again meanwhile.
    await database.transaction(
      page.map(({ number }) => number),
      async (transaction) => {
        const ids = page.map(({ id }) => id);
        const still = transaction.selectFrom("phone_mappings").select("id").where("sweep_at", "<=", before);
        const gone = await still.where("id", "in", ids).execute();
        await records.remove(
          transaction,
          gone.map(({ id }) => id),
        );
      },
    );
  }
}
