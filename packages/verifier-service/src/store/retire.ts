import type { Database } from "./database.ts";
import { PARTS } from "./schema.ts";

/** Rows of each table at once: a sweep must not hold up what requests write. */
const AT_ONCE = 1_000;

/**
 * Forgets what was sent of operations and transactions that were over before `before`: some kilobytes for each payment,
 * which the chain has too. What became of them stays.
 */
export async function retireTexts({ transaction }: Database, before: number): Promise<void> {
  await transaction(["sweep"], async (db) => {
    const operations = db.selectFrom("operations").select("id").where(PARTS.endedOperations);
    const old = operations.where("updated_at", "<=", before).limit(AT_ONCE);
    await db.updateTable("operations").set({ call: "null" }).where("id", "in", old).execute();
    const transactions = db.selectFrom("transactions").select("id").where(PARTS.endedTransactions);
    const rows = await transactions.where("updated_at", "<=", before).limit(AT_ONCE).execute();
    if (rows.length === 0) return;
    const ids = rows.map(({ id }) => id);
    await db.updateTable("attempts").set({ raw: "" }).where("transaction_id", "in", ids).execute();
    await db.updateTable("transactions").set({ data: "" }).where("id", "in", ids).execute();
  });
}
