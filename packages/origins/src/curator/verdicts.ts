import { TREE_CAPACITY } from "@sotto/protocol";
import { ServerError } from "@sotto/server";
import type { OriginSet } from "../core/set.ts";
import { CuratorError } from "./errors.ts";
import { CuratorStore } from "./store/store.ts";

/**
 * Stores what a person says about a deposit. The leader takes it in its next round; it need not run meanwhile.
 * @param leaf decimal
 * @throws CuratorError ORIGIN_LEAF_UNKNOWN, ORIGIN_STORE_MISMATCH; ServerError INVALID_CONFIG
 */
export async function storeVerdict(
  { store: url, set }: { readonly store: string; readonly set: OriginSet },
  verdict: "accept" | "refuse",
  leaf: string,
): Promise<void> {
  const number = /^(0|[1-9]\d{0,9})$/.test(leaf) ? Number(leaf) : TREE_CAPACITY;
  if (number >= TREE_CAPACITY)
    throw new ServerError(
      "INVALID_CONFIG",
      `the leaf must be a whole number below ${TREE_CAPACITY}, for example: ${verdict} 7`,
    );
  const store = await CuratorStore.open({ url, set });
  try {
    await store.write(async (db) => {
      const row = await db
        .selectFrom("origin_leaves")
        .select("leaf")
        .where("leaf", "=", number)
        .where("amount", "is not", null)
        .executeTakeFirst();
      if (row === undefined)
        throw new CuratorError("ORIGIN_LEAF_UNKNOWN", `no confirmed deposit has the leaf ${number}`);
      await db
        .insertInto("origin_verdicts")
        .values({ leaf: number, verdict, handled: 0 })
        .onConflict((conflict) => conflict.column("leaf").doUpdateSet({ verdict, handled: 0 }))
        .execute();
    });
  } finally {
    await store.close();
  }
}
