import { randomUUID } from "node:crypto";
import { networkHashes, type SharedCounts } from "@sotto/server";
import { sql } from "kysely";
import type { Database } from "./database.ts";

/**
 * The counts of requests that replicas on PostgreSQL share: two statements for each exchange, however many requests there are.
 * @param secret the same on all replicas: the table has keyed hashes of networks, not the networks
 */
export function sharedCounts({ db }: Database, secret: string): SharedCounts {
  const replica = randomUUID();
  const hashOf = networkHashes(secret, "sotto rates");
  return {
    async exchange(window, own) {
      const networks = new Map([...own.keys()].map((network) => [hashOf(network), network]));
      const hashes = [...networks.keys()];
      const counts = [...own.values()];
      // Arrays, because a statement with a parameter for each value takes the thread that serves requests milliseconds.
      await sql`
        insert into rates (window_start, network, replica, used)
        select ${window}::bigint, network, ${replica}, used
        from unnest(${hashes}::text[], ${counts}::bigint[]) as counted (network, used)
        on conflict (window_start, network, replica) do update set used = excluded.used`.execute(db);
      const { rows: found } = await sql<{ network: string; used: string | number }>`
        select network, sum(used) as used from rates
        where window_start = ${window} and replica <> ${replica} and network = any(${hashes}::text[])
        group by network`.execute(db);
      return new Map(found.map(({ network, used }) => [networks.get(network)!, Number(used)]));
    },
  };
}

/** Deletes the counts of windows that began before this time, ms. */
export async function sweepRates({ db }: Database, before: number): Promise<void> {
  await db.deleteFrom("rates").where("window_start", "<", before).execute();
}
