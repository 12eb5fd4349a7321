import type { Db } from "./schema.ts";

/** The day (UTC) of a time, YYYY-MM-DD. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** Wei spent on a day. Transactions that are not mined count with their maximum cost. */
export async function gasSpent(db: Db, day: string): Promise<bigint> {
  const row = await db.selectFrom("gas_days").select("wei").where("day", "=", day).executeTakeFirst();
  return BigInt(row?.wei ?? 0);
}

/** Adds an amount, which may be negative, to a day's total. Only the leading relayer writes it. */
export async function chargeGas(db: Db, day: string, wei: bigint): Promise<void> {
  const total = String((await gasSpent(db, day)) + wei);
  const row = db.insertInto("gas_days").values({ day, wei: total });
  await row.onConflict((conflict) => conflict.column("day").doUpdateSet({ wei: total })).execute();
}
