import type { Database } from "./database.ts";
import { StoreError } from "./errors.ts";
import type { Db } from "./schema.ts";

/** The right to act as the relayer, until it expires. */
export interface Lease {
  name: string;
  holder: string;
  /** Grows with each new holder. */
  token: number;
}

const keyOf = (name: string) => `lease:${name}`;

export function leaseRepository(database: Database) {
  return {
    /**
     * Acquires or renews a lease, by the database's clock.
     * @param ttl ms
     * @param isGone whether the process of a holder is known to have ended; its lease is then taken over at once
     * @returns undefined while another replica holds it
     */
    acquire(
      name: string,
      holder: string,
      ttl: number,
      isGone: (holder: string) => boolean = () => false,
    ): Promise<Lease | undefined> {
      return database.transaction([keyOf(name)], async (db) => {
        const now = await database.now(db);
        const expires_at = now + ttl;
        const row = await db.selectFrom("leases").selectAll().where("name", "=", name).executeTakeFirst();
        if (row === undefined) {
          await db.insertInto("leases").values({ name, holder, token: 1, expires_at }).execute();
          return { name, holder, token: 1 };
        }
        const mine = row.holder === holder;
        if (!mine && row.expires_at > now && !isGone(row.holder)) return undefined;
        // After the lease expires, even its last holder gets a new token, because another holder may have acted in
        // between.
        const token = mine && row.expires_at > now ? row.token : row.token + 1;
        await db.updateTable("leases").set({ holder, token, expires_at }).where("name", "=", name).execute();
        return { name, holder, token };
      });
    },

    /** Releases the lease, so that another replica need not wait for its expiry. */
    async release({ name, holder, token }: Lease): Promise<void> {
      const row = database.db.updateTable("leases").set({ expires_at: 0 }).where("name", "=", name);
      await row.where("holder", "=", holder).where("token", "=", token).execute();
    },
  };
}

/**
 * Runs `action` in a transaction that only the holder of the newest lease may commit. A replica that was paused or lost its
 * network cannot overwrite the work of its successor.
 * @throws StoreError LEASE_LOST
 */
export function fenced<T>(database: Database, lease: Lease, action: (db: Db) => Promise<T>): Promise<T> {
  return database.transaction([keyOf(lease.name)], async (db) => {
    const row = await db.selectFrom("leases").select("token").where("name", "=", lease.name).executeTakeFirst();
    if (row?.token !== lease.token)
      throw new StoreError("LEASE_LOST", "another replica is the relayer now", { token: lease.token });
    return action(db);
  });
}
