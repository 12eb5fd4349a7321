import type { Database } from "@sotto/database";
import type { Exceeded, Quota, ServiceQuotas } from "@sotto/server";
import { epochOf, laterEpoch } from "../core/epoch.ts";
import type { TermsConflict } from "../core/metered/terms.ts";
import type { Kept, StatementOwner } from "./store.ts";
import type { PrepaidTables } from "./tables.ts";

export interface NewTerms extends StatementOwner {
  readonly digest: string;
  /** The terms and their signature, JSON. */
  readonly content: string;
  /** Their first and their last month. */
  readonly epochs: readonly [string, string];
}

export interface TermsLimits {
  /** Maximum terms of one owner that are listed, and that have a month in common with the new ones. */
  readonly perOwner: number;
  /** Counted if the terms are kept. */
  readonly quotas: readonly Quota[];
  /** How kept terms contradict the new ones. */
  conflict(content: string): TermsConflict | undefined;
}

export type KeepTermsResult =
  | { readonly kind: "kept" | "known" | "full" }
  | { readonly kind: "conflict"; readonly conflict: TermsConflict }
  | Exceeded;

/** Signed terms of metered routes. Rows are only added, never changed or deleted. */
export function termsOf(
  { db, transaction }: Pick<Database<PrepaidTables>, "db" | "transaction">,
  { locks, takeWithin }: ServiceQuotas,
  clock: () => number,
) {
  /** The first month whose tokens are accepted: terms are listed as long as those of their last month are. */
  const month = () => laterEpoch(epochOf(clock()), -1);
  return {
    /** Keeps terms, unless they are known or contradict those of before. An owner's terms are kept one after the other. */
    keep(terms: NewTerms, { perOwner, quotas, conflict }: TermsLimits): Promise<KeepTermsResult> {
      const { deployment, wallet, origin, digest, content, epochs } = terms;
      const owner = { deployment, wallet, origin };
      return transaction([`prepaid-terms:${deployment}:${wallet}:${origin}`, ...locks(quotas)], async (within) => {
        const [first, last] = epochs;
        const rows = await within
          .selectFrom("prepaid_terms")
          .select(["digest", "content"])
          .where((row) => row.and(owner))
          .where("last_epoch", ">=", first)
          .where("first_epoch", "<=", last)
          .execute();
        if (rows.some((row) => row.digest === digest)) return { kind: "known" };
        // Rows of ended months are not listed, but each is compared.
        if (rows.length >= perOwner) return { kind: "full" };
        for (const row of rows) {
          const found = conflict(row.content);
          if (found !== undefined) return { kind: "conflict", conflict: found };
        }
        const { count } = await within
          .selectFrom("prepaid_terms")
          .select(within.fn.countAll<number | string>().as("count"))
          .where((row) => row.and(owner))
          .where("last_epoch", ">=", month())
          .executeTakeFirstOrThrow();
        if (Number(count) >= perOwner) return { kind: "full" };
        const exceeded = await takeWithin(within, quotas);
        if (exceeded !== undefined) return exceeded;
        await within
          .insertInto("prepaid_terms")
          .values({ ...owner, digest, first_epoch: first, last_epoch: last, content, received_at: clock() })
          .execute();
        return { kind: "kept" };
      });
    },

    /** The listed terms of an owner, the oldest first. */
    list: (owner: StatementOwner): Promise<Kept[]> =>
      db
        .selectFrom("prepaid_terms")
        .select(["content", "received_at as receivedAt"])
        .where((row) => row.and({ ...owner }))
        .where("last_epoch", ">=", month())
        .orderBy("received_at")
        .orderBy("digest")
        .execute(),
  };
}

export type TermsStore = ReturnType<typeof termsOf>;
