import type { Database } from "@sotto/database";
import { encodeHead, headDigest, type SignedHead } from "../core/head.ts";
import { type OriginSet, setId } from "../core/set.ts";
import { OriginHeadError } from "../heads/errors.ts";
import type { OriginTables } from "./tables.ts";

/** Signed heads of sets. Rows are only added, never changed or deleted. */
export function headsOf({ db, transaction }: Pick<Database<OriginTables>, "db" | "transaction">, clock: () => number) {
  return {
    /**
     * Keeps heads of a set, oldest first: all of them, or none if another head has the number or the slot of one of them.
     * @throws OriginHeadError CURATOR_EQUIVOCATED
     */
    keep(set: OriginSet, heads: readonly SignedHead[]): Promise<void> {
      const set_id = setId(set);
      return transaction([`origins:${set_id}`], async (within) => {
        for (const signed of heads) {
          const { number, time } = signed.head;
          const digest = headDigest(signed.head);
          const known = await within
            .selectFrom("origin_heads")
            .select(["number", "digest"])
            .where("set_id", "=", set_id)
            .where((row) => row.or([row("number", "=", number), row("time", "=", time)]))
            .execute();
          if (known.some((row) => row.digest !== digest))
            throw new OriginHeadError(
              "CURATOR_EQUIVOCATED",
              `the curator ${set.curator} of the set ${set.name} signed another head ${number}, or another one for its slot`,
            );
          if (known.length > 0) continue;
          const content = JSON.stringify(encodeHead(signed));
          const row = { set_id, number, time, digest, content, received_at: clock() };
          await within.insertInto("origin_heads").values(row).execute();
        }
      });
    },

    /** The newest kept head, JSON; undefined if there is none. */
    async newest(set: OriginSet): Promise<string | undefined> {
      const row = await db
        .selectFrom("origin_heads")
        .select("content")
        .where("set_id", "=", setId(set))
        .orderBy("number", "desc")
        .limit(1)
        .executeTakeFirst();
      return row?.content;
    },

    /** The kept heads with numbers from `first` on, at most `count`, JSON, oldest first. */
    async from(set: OriginSet, first: number, count: number): Promise<readonly string[]> {
      const rows = await db
        .selectFrom("origin_heads")
        .select("content")
        .where("set_id", "=", setId(set))
        .where("number", ">=", first)
        .where("number", "<", first + count)
        .orderBy("number")
        .execute();
      return rows.map(({ content }) => content);
    },

    /** The kept heads from a time on, seconds, and the newest one before it, JSON, oldest first. */
    async since(set: OriginSet, time: number): Promise<readonly string[]> {
      const ofSet = db.selectFrom("origin_heads").where("set_id", "=", setId(set));
      const before = await ofSet
        .select("number")
        .where("time", "<", time)
        .orderBy("number", "desc")
        .limit(1)
        .executeTakeFirst();
      const rows = await ofSet
        .select("content")
        .where("number", ">=", before?.number ?? 0)
        .orderBy("number")
        .execute();
      return rows.map(({ content }) => content);
    },
  };
}

export type HeadStore = ReturnType<typeof headsOf>;
