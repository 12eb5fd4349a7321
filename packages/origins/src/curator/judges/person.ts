import type { CuratorStore } from "../store/store.ts";
import { ACCEPT, type Judge, REFUSE } from "./judge.ts";

/** A person, who judges with `sotto-curator accept LEAF` and `sotto-curator refuse LEAF`. Until then, a deposit waits. */
export const personJudge = (store: CuratorStore): Judge => ({
  name: "person",
  parameters: {},
  async judge({ leaf }) {
    const row = await store.db
      .selectFrom("origin_verdicts")
      .select("verdict")
      .where("leaf", "=", leaf)
      .executeTakeFirst();
    if (row === undefined) return { verdict: "wait", again: Number.POSITIVE_INFINITY };
    return row.verdict === "accept" ? ACCEPT : REFUSE;
  },
});
