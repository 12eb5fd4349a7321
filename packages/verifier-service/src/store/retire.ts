import type { Database } from "./database.ts";
import { PARTS } from "./schema.ts";

/** Rows per table and call, so that requests do not wait long for a sweep. */
const AT_ONCE = 1_000;

/**
 * Deletes the calldata and the traces of operations and transactions that ended before `before`: some kilobytes per payment, which
 * the chain stores too. Their outcomes are kept.
 */
export async function retireTexts({ transaction }: Database, before: number): Promise<void> {
  await transaction(["sweep"], async (db) => {
    const operations = db.selectFrom("operations").select("id").where(PARTS.endedOperations);
    const old = operations.where("updated_at", "<=", before).limit(AT_ONCE);
    await db.updateTable("operations").set({ call: "null", trace: null }).where("id", "in", old).execute();
    const transactions = db.selectFrom("transactions").select("id").where(PARTS.endedTransactions);
    const rows = await transactions.where("updated_at", "<=", before).limit(AT_ONCE).execute();
    if (rows.length === 0) return;
    const ids = rows.map(({ id }) => id);
    await db.updateTable("attempts").set({ raw: "" }).where("transaction_id", "in", ids).execute();
    await db.updateTable("transactions").set({ data: "" }).where("id", "in", ids).execute();
  });
}
