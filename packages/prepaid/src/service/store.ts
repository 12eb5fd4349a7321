import type { Database } from "@sotto/database";
import type { Exceeded, Quota, ServiceQuotas } from "@sotto/server";
import type { PrepaidTables } from "./tables.ts";

/** Identifies whose schedules or terms they are. */
export interface StatementOwner {
  /** The chain and the pool. */
  readonly deployment: string;
  readonly wallet: string;
  readonly origin: string;
}

export interface NewScheduleKey {
  readonly epoch: string;
  /** Base units, decimal. */
  readonly value: string;
  readonly id: string;
}

export interface NewSchedule extends StatementOwner {
  readonly digest: string;
  /** The schedule and its signature, JSON. */
  readonly content: string;
  readonly keys: readonly NewScheduleKey[];
}

export interface ScheduleLimits {
  /** Maximum schedules of one owner. */
  readonly perOwner: number;
  /** Counted if the schedule is kept. */
  readonly quotas: readonly Quota[];
}

export type KeepResult =
  | { readonly kind: "kept"; readonly accepted: number; readonly known: number }
  | { readonly kind: "conflict"; readonly key: NewScheduleKey }
  | { readonly kind: "full" }
  | Exceeded;

/** A kept schedule, or kept terms. */
export interface Kept {
  /** With its signature, JSON. */
  readonly content: string;
  /** Ms. */
  readonly receivedAt: number;
}

/** Signed schedules of prepaid keys. Rows are only added, never changed or deleted. */
export function schedulesOf(
  { db, transaction }: Pick<Database<PrepaidTables>, "db" | "transaction">,
  { locks, takeWithin }: ServiceQuotas,
  clock: () => number,
) {
  return {
    /**
     * Keeps a schedule if it has a new key, and all of it or nothing. An owner has one key for each value and epoch,
     * and a key has one value and epoch.
     */
    keep(schedule: NewSchedule, { perOwner, quotas }: ScheduleLimits): Promise<KeepResult> {
      const { deployment, wallet, origin, digest, content, keys } = schedule;
      const owner = { deployment, wallet, origin };
      return transaction([`prepaid:${deployment}:${wallet}:${origin}`, ...locks(quotas)], async (within) => {
        const rows = await within
          .selectFrom("prepaid_keys")
          .select(["epoch", "value", "key_id"])
          .where((row) => row.and(owner))
          .execute();
        const byPlace = new Map(rows.map(({ epoch, value, key_id }) => [`${epoch} ${value}`, key_id]));
        const ids = new Set(rows.map(({ key_id }) => key_id));
        const isKnown = ({ epoch, value, id }: NewScheduleKey) => byPlace.get(`${epoch} ${value}`) === id;
        const added = keys.filter((key) => !isKnown(key));
        const known = keys.length - added.length;
        const other = added.find(({ epoch, value, id }) => byPlace.has(`${epoch} ${value}`) || ids.has(id));
        if (other !== undefined) return { kind: "conflict", key: other };
        if (added.length === 0) return { kind: "kept", accepted: 0, known };
        const now = clock();
        const { count } = await within
          .selectFrom("prepaid_schedules")
          .select(within.fn.countAll<number | string>().as("count"))
          .where((row) => row.and(owner))
          .executeTakeFirstOrThrow();
        if (Number(count) >= perOwner) return { kind: "full" };
        const exceeded = await takeWithin(within, quotas);
        if (exceeded !== undefined) return exceeded;
        await within
          .insertInto("prepaid_schedules")
          .values({ ...owner, digest, content, received_at: now })
          .execute();
        const entries = added.map(({ epoch, value, id }) => ({ ...owner, epoch, value, key_id: id }));
        await within.insertInto("prepaid_keys").values(entries).execute();
        return { kind: "kept", accepted: added.length, known };
      });
    },

    /** The kept schedules of an owner, the oldest first. */
    list: (owner: StatementOwner): Promise<Kept[]> =>
      db
        .selectFrom("prepaid_schedules")
        .select(["content", "received_at as receivedAt"])
        .where((row) => row.and({ ...owner }))
        .orderBy("received_at")
        .orderBy("digest")
        .execute(),
  };
}

export type Schedules = ReturnType<typeof schedulesOf>;
