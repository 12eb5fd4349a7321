import type { Database } from "./database.ts";
import { type Db, PARTS } from "./schema.ts";

const NAME = "relayer";

/** Costs that the service has committed to and not paid yet. */
export interface Commitments {
  /** Payments with a token or in the queue: each may need a transaction of its own. */
  payments: number;
  /** Maximum cost of the transactions that are not mined, wei. */
  unmined: bigint;
}

export async function lastRound({ db, now }: Database): Promise<number | undefined> {
  const row = await db.selectFrom("rounds").select("ended_at").where("name", "=", NAME).executeTakeFirst();
  return row && Math.max(0, (await now()) - row.ended_at);
}

export function roundWrites({ now }: Database, db: Db) {
  return {
    /** Records that the leading relayer completed a round. */
    async ended(): Promise<void> {
      const ended_at = await now(db);
      const row = db.insertInto("rounds").values({ name: NAME, ended_at });
      await row.onConflict((conflict) => conflict.column("name").doUpdateSet({ ended_at })).execute();
    },
  };
}

export async function commitments(db: Db, clock: () => number): Promise<Commitments> {
  const count = db.fn.countAll<number | string>().as("count");
  const queued = db.selectFrom("operations").select(count).where(PARTS.queuedPayments);
  const reserved = db.selectFrom("claims").select(count).where(PARTS.reserved).where("expires_at", ">", clock());
  const [operations, tokens] = [await queued.executeTakeFirstOrThrow(), await reserved.executeTakeFirstOrThrow()];
  const sent = db.selectFrom("transactions").select("cost").where(PARTS.openTransactions).where("state", "=", "sent");
  const costs = (await sent.execute()).map(({ cost }) => BigInt(cost));
  return {
    payments: Number(operations.count) + Number(tokens.count),
    unmined: costs.reduce((sum, cost) => sum + cost, 0n),
  };
}
