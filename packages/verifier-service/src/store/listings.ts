import type { Database } from "./database.ts";
import type { Db, NewRow } from "./schema.ts";

/** Identifies a listing. */
export interface ListingKey {
  readonly url: string;
  readonly method: string;
}

export interface ListingLimits {
  /** Maximum listings of one host, and of all hosts; both count listings that are not public yet. */
  readonly perHost: number;
  readonly inAll: number;
}

export interface ListingTimes {
  /** When to ask the host next, ms. */
  readonly dueAt: number;
  readonly expiresAt: number;
}

export interface StoredListing extends ListingKey {
  /** JSON as the catalog shows it; "" until the host has confirmed it. */
  readonly item: string;
}

export interface DueListing extends StoredListing {
  readonly expiresAt: number;
}

export interface ConfirmedListing extends ListingTimes {
  readonly item: string;
  readonly payTo: string;
}

export interface ListingPage {
  readonly total: number;
  readonly items: readonly string[];
}

const LOCKS = ["listings"];

export function listingRepository({ db, transaction }: Database) {
  const at = ({ url, method }: ListingKey) =>
    db.updateTable("listings").where("url", "=", url).where("method", "=", method);
  return {
    /**
     * Remembers a resource that was paid for. A known resource stays as it is, so that nothing reveals further
     * payments.
     */
    async note(
      { url, method }: ListingKey,
      { dueAt, expiresAt }: ListingTimes,
      { perHost, inAll }: ListingLimits,
    ): Promise<"noted" | "known" | "full"> {
      const { host } = new URL(url);
      const row: NewRow<"listings"> = {
        ...{ url, method, host, item: "", pay_to: "" },
        ...{ due_at: dueAt, expires_at: expiresAt },
      };
      const isKnown = async (within: Db) => {
        const row = within.selectFrom("listings").select("url").where("url", "=", url).where("method", "=", method);
        return (await row.executeTakeFirst()) !== undefined;
      };
      // Most payments are for known resources, and need no transaction.
      if (await isKnown(db)) return "known";
      return transaction(LOCKS, async (within) => {
        if (await isKnown(within)) return "known";
        const count = within.selectFrom("listings").select(db.fn.countAll<number | string>().as("count"));
        const ofHost = await count.where("host", "=", host).executeTakeFirstOrThrow();
        const all = await count.executeTakeFirstOrThrow();
        if (Number(ofHost.count) >= perHost || Number(all.count) >= inAll) return "full";
        await within.insertInto("listings").values(row).execute();
        return "noted";
      });
    },

    /**
     * Takes listings whose hosts are due to be asked, the most overdue first, and sets their next due time, so that no
     * other replica takes them until then.
     */
    takeDue: (now: number, again: number, limit: number): Promise<DueListing[]> =>
      transaction(LOCKS, async (within) => {
        const due = within.selectFrom("listings").select(["url", "method", "item", "expires_at as expiresAt"]);
        const rows = await due.where("due_at", "<=", now).orderBy("due_at").limit(limit).execute();
        for (const { url, method } of rows) {
          const row = within.updateTable("listings").where("url", "=", url).where("method", "=", method);
          await row.set({ due_at: again }).execute();
        }
        return rows;
      }),

    /** Publishes a listing as its host has confirmed it. */
    async confirm(key: ListingKey, { item, payTo, dueAt, expiresAt }: ConfirmedListing): Promise<void> {
      await at(key).set({ item, pay_to: payTo, due_at: dueAt, expires_at: expiresAt }).execute();
    },

    async defer(key: ListingKey, dueAt: number): Promise<void> {
      await at(key).set({ due_at: dueAt }).execute();
    },

    async remove({ url, method }: ListingKey): Promise<void> {
      await db.deleteFrom("listings").where("url", "=", url).where("method", "=", method).execute();
    },

    /** Public listings in the order of their URLs, which reveals nothing about when they were paid for. */
    async page(filter: {
      payTo?: string | undefined;
      now: number;
      limit: number;
      offset: number;
    }): Promise<ListingPage> {
      let rows = db.selectFrom("listings").where("item", "<>", "").where("expires_at", ">", filter.now);
      if (filter.payTo !== undefined) rows = rows.where("pay_to", "=", filter.payTo);
      const { count } = await rows.select(db.fn.countAll<number | string>().as("count")).executeTakeFirstOrThrow();
      const page = rows.select("item").orderBy("url").orderBy("method").limit(filter.limit).offset(filter.offset);
      return { total: Number(count), items: (await page.execute()).map(({ item }) => item) };
    },

    /** Confirmed listings in the order of their URLs and methods. @param after the last listing of the previous call */
    stored(after: ListingKey | undefined, limit: number): Promise<StoredListing[]> {
      let rows = db.selectFrom("listings").select(["url", "method", "item"]).where("item", "<>", "");
      if (after !== undefined)
        rows = rows.where(({ and, eb, or }) =>
          or([eb("url", ">", after.url), and([eb("url", "=", after.url), eb("method", ">", after.method)])]),
        );
      return rows.orderBy("url").orderBy("method").limit(limit).execute();
    },

    async sweep(now: number): Promise<void> {
      await db.deleteFrom("listings").where("expires_at", "<=", now).execute();
    },
  };
}
