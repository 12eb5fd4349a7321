import type { Kysely } from "kysely";
import type { Connection } from "./connection.ts";
import { DatabaseError } from "./errors.ts";
import { isGone } from "./holder.ts";

/** A table of leases, which a migration of the program creates. */
export interface LeaseTable {
  /** What the lease is for. The primary key. */
  name: string;
  /** Name of the process that has it, made by `holderName`. */
  holder: string;
  /** Grows with each new holder. */
  token: number;
  /** Ms by the database's clock. */
  expires_at: number;
}

/** The right of one replica to do something alone, until it expires. */
export interface Lease {
  /** What the lease is for. */
  readonly name: string;
  /** Name of the process that has it. */
  readonly holder: string;
  /** Grows with each new holder. */
  readonly token: number;
}

const keyOf = (name: string) => `lease:${name}`;

/** Leases in a table of a database. @param table its name; its columns are those of `LeaseTable` */
export function leasesIn<Schema>(
  database: Pick<Connection<Schema>, "kind" | "db" | "transaction" | "now">,
  table: string & keyof Schema,
) {
  const within = (db: Kysely<Schema>) => db as unknown as Kysely<{ leases: LeaseTable }>;
  const leases = table as unknown as "leases";
  return {
    /**
     * Acquires or renews a lease, by the database's clock.
     * @param ttl ms
     * @param gone whether the process of a holder is known to have ended; its lease is then taken over at once. Default: `isGone`
     *   on SQLite, whose users are all on one machine
     * @returns undefined while another replica holds it
     */
    acquire(
      name: string,
      holder: string,
      ttl: number,
      gone: (holder: string) => boolean = database.kind === "sqlite" ? isGone : () => false,
    ): Promise<Lease | undefined> {
      return database.transaction([keyOf(name)], async (transaction) => {
        const db = within(transaction);
        const now = await database.now(transaction);
        const expires_at = now + ttl;
        const row = await db.selectFrom(leases).selectAll().where("name", "=", name).executeTakeFirst();
        if (row === undefined) {
          await db.insertInto(leases).values({ name, holder, token: 1, expires_at }).execute();
          return { name, holder, token: 1 };
        }
        const mine = row.holder === holder;
        if (!mine && row.expires_at > now && !gone(row.holder)) return undefined;
        // After the lease expires, even its last holder gets a new token, because another holder may have acted in
        // between.
        const token = mine && row.expires_at > now ? row.token : row.token + 1;
        await db.updateTable(leases).set({ holder, token, expires_at }).where("name", "=", name).execute();
        return { name, holder, token };
      });
    },

    /** Releases the lease, so that another replica need not wait for its expiry. */
    async release({ name, holder, token }: Lease): Promise<void> {
      const row = within(database.db).updateTable(leases).set({ expires_at: 0 }).where("name", "=", name);
      await row.where("holder", "=", holder).where("token", "=", token).execute();
    },

    /**
     * Runs `action` in a transaction that only the holder of the newest lease may commit. A replica that was paused or lost its
     * network cannot overwrite the work of its successor.
     * @param keys further keys of the transaction. Default: none
     * @throws DatabaseError LEASE_LOST
     */
    fenced<T>(lease: Lease, action: (db: Kysely<Schema>) => Promise<T>, keys: readonly string[] = []): Promise<T> {
      const { name, token } = lease;
      return database.transaction([...keys, keyOf(name)], async (transaction) => {
        const row = await within(transaction)
          .selectFrom(leases)
          .select("token")
          .where("name", "=", name)
          .executeTakeFirst();
        if (row?.token !== token)
          throw new DatabaseError("LEASE_LOST", `another replica has the lease ${name} now`, { token });
        return action(transaction);
      });
    },
  };
}
