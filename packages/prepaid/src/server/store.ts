// Spent tokens and sold packs. A token is spent by one durable insert before its handler runs.

import { hash, randomUUID } from "node:crypto";
import { type Database, openDatabase } from "@sotto/database";
import { invalidOption } from "@sotto/resource-server";
import { type Kysely, type RawBuilder, type SqlBool, sql } from "kysely";
import { epochOf, laterEpoch } from "../index.ts";
import { type Committed, hasWritten } from "./commit-order.ts";
import { jsonElements } from "./json-elements.ts";
import { type ClaimOutcome, type MeteredSpend, MeteredStore, type SwapOutcome } from "./metered/store.ts";
import { isAhead, type Progress } from "./progress.ts";
import { type ClosedRow, type PackRow, PREPAID_MIGRATIONS, type PrepaidSchema } from "./schema.ts";
import { spendId, type TokenId } from "./token-id.ts";

/** How often a token may be returned after a failed handler. */
const MAX_RETURNS = 2;
/** How long the rows of a closed key are kept, ms: far longer than a replica needs to learn that it is closed. */
const RETENTION_MS = 86_400_000;
/** Rows that one sweep deletes of a table; deleting more would block SQLite for too long. A pack has up to 256,000 bytes. */
const [SWEEP_ROWS, SWEEP_PACKS] = [5_000, 50];

/** The lock of transactions that close keys, or that must not run while keys are closed. */
const CLOSING = "prepaid_closing";

/** A token to spend. */
export interface Spend extends TokenId {
  /** Method and target: what the token opens, and opens again if it is returned. */
  readonly opens: string;
  /** For a metered route: what to store with the token. Such a token is never returned. */
  readonly metered?: MeteredSpend | undefined;
}

/** The hash that the store keeps of a returned token's method and target. */
const openingOf = ({ opens }: Spend): string => hash("sha256", opens, "base64url");

/** Value and count of tokens, by key. */
export interface Totals {
  readonly keyId: string;
  readonly issued: number;
  readonly redeemed: number;
}

export interface PrepaidStoreOptions {
  /** `sqlite:PATH` or `postgres://..` */
  readonly url: string;
  readonly clock: () => number;
  readonly onError: (error: unknown) => void;
  /** For tests: called after each query with its text. */
  readonly onQuery?: ((query: string) => void) | undefined;
}

export class PrepaidStore {
  readonly #database: Database<PrepaidSchema>;
  /** Path of the SQLite database; undefined for PostgreSQL. */
  readonly file: string | undefined;
  /** What tokens paid for at metered routes, and swaps. */
  readonly metered: MeteredStore;

  private constructor(database: Database<PrepaidSchema>, { url, clock }: PrepaidStoreOptions) {
    this.#database = database;
    this.metered = new MeteredStore(database, clock);
    this.file = database.kind === "sqlite" ? url.slice("sqlite:".length) : undefined;
  }

  /** @throws DatabaseError; PaywallError INVALID_OPTION if the database does not write durably */
  static async open(options: PrepaidStoreOptions): Promise<PrepaidStore> {
    const database = await openDatabase<PrepaidSchema>({ ...options, name: "prepaid", migrations: PREPAID_MIGRATIONS });
    const store = new PrepaidStore(database, options);
    try {
      await store.#assertDurable();
      const progress = { id: 1, store: randomUUID(), ticks: 0 };
      await database.db
        .insertInto("prepaid_progress")
        .values(progress)
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    } catch (error) {
      await database.close();
      throw error;
    }
    return store;
  }

  /** SQLite is opened with synchronous=FULL. */
  async #assertDurable(): Promise<void> {
    if (this.#database.kind !== "postgres") return;
    const { rows } = await sql<{ synchronous_commit: string }>`show synchronous_commit`.execute(this.#database.db);
    if (rows[0]?.synchronous_commit === "off")
      throw invalidOption(
        "prepaid.store: PostgreSQL has synchronous_commit off, so it could forget spent tokens; turn it on for this user",
      );
  }

  /**
   * Spends all tokens that were not spent before and whose key is not closed, in one durable statement. Only for
   * PostgreSQL: in SQLite, spender-worker.ts spends tokens, because a commit would block this thread.
   * @param spends without duplicates
   * @returns the ids (`spendId`) of the tokens that this call spent
   */
  async spend(spends: readonly Spend[], holder: string): Promise<Set<string>> {
    const shown = spends.map(({ keyId, nonce, metered }) => ({ keyId, nonce, metered }));
    const { rows } = await sql<{ id: string }>`
      with shown as (select value from ${jsonElements(this.#database, shown)}),
      spent as (
        insert into prepaid_token (key_id, nonce, holder, returns)
        select value ->> 'keyId', value ->> 'nonce', ${sql.val(holder)}, 0 from shown
        where not exists (select 1 from prepaid_closed where prepaid_closed.key_id = value ->> 'keyId')
        on conflict do nothing returning key_id, nonce
      ),
      running as (${this.metered.insertRunning(holder)})
      select key_id || ':' || nonce as id from spent`.execute(this.#database.db);
    return new Set(rows.map((row) => row.id));
  }

  /**
   * Spends tokens again that were returned for the same method and target. Tokens that were not returned cost one read
   * together.
   * @returns the ids of the tokens that this call spent
   */
  async spendReturned(spends: readonly Spend[], holder: string): Promise<Set<string>> {
    if (spends.length === 0) return new Set();
    const openings = spends.map((spend) => [spend.keyId, spend.nonce, openingOf(spend)]);
    const returned = await sql<{ key_id: string; nonce: string }>`
      select key_id, nonce from ${jsonElements(this.#database, openings)}
      join prepaid_token on key_id = value ->> 0 and nonce = value ->> 1
      where returned_for = value ->> 2`.execute(this.#database.db);
    const spent = new Set<string>();
    for (const row of returned.rows) {
      const updated = await sql`
        update prepaid_token set returned_for = null, holder = ${holder}
        where key_id = ${row.key_id} and nonce = ${row.nonce} and returned_for is not null
        and not exists (select 1 from prepaid_closed where prepaid_closed.key_id = prepaid_token.key_id)
        and ${this.#isPlain}
        returning nonce`.execute(this.#database.db);
      if (updated.rows.length > 0) spent.add(spendId({ keyId: row.key_id, nonce: row.nonce }));
    }
    return spent;
  }

  /** Whether a row of prepaid_token did not pay for a request of a metered route, whose change may be claimed. */
  get #isPlain(): RawBuilder<SqlBool> {
    return sql`not exists (
      select 1 from prepaid_metered
      where prepaid_metered.key_id = prepaid_token.key_id and prepaid_metered.nonce = prepaid_token.nonce)`;
  }

  /**
   * Returns a token whose handler failed or did not start, at most twice, and never one that paid for a request of a metered
   * route. @returns whether it was returned
   */
  async restore(spend: Spend, holder: string): Promise<boolean> {
    const { numUpdatedRows } = await this.#database.db
      .updateTable("prepaid_token")
      .set((row) => ({ returned_for: openingOf(spend), returns: row("returns", "+", 1) }))
      .where("key_id", "=", spend.keyId)
      .where("nonce", "=", spend.nonce)
      .where("holder", "=", holder)
      .where("returned_for", "is", null)
      .where("returns", "<", MAX_RETURNS)
      .where(this.#isPlain)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** The stored answer to a purchase, and the payment that was shown first. */
  async pack(keyId: string, batch: string): Promise<Pick<PackRow, "payment" | "signatures"> | undefined> {
    const packs = this.#database.db.selectFrom("prepaid_pack").select(["payment", "signatures"]);
    return packs.where("key_id", "=", keyId).where("batch", "=", batch).executeTakeFirst();
  }

  /** Stores the answer to a purchase, unless it is stored already. @returns whether it is new */
  async addPack(pack: PackRow): Promise<boolean> {
    const { numInsertedOrUpdatedRows } = await this.#database.db
      .insertInto("prepaid_pack")
      .values(pack)
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    return (numInsertedOrUpdatedRows ?? 0n) > 0n;
  }

  /** Closes keys for good. @returns those that were open */
  async close(keyIds: readonly string[], reason: ClosedRow["reason"]): Promise<string[]> {
    if (keyIds.length === 0) return [];
    const closed_at = await this.now();
    const rows = await this.#database.transaction([CLOSING], (db) =>
      db
        .insertInto("prepaid_closed")
        .values(keyIds.map((key_id) => ({ key_id, reason, closed_at })))
        .onConflict((conflict) => conflict.doNothing())
        .returning("key_id")
        .execute(),
    );
    return rows.map((row) => row.key_id);
  }

  async closed(db: Kysely<PrepaidSchema> = this.#database.db): Promise<string[]> {
    const rows = await db.selectFrom("prepaid_closed").select("key_id").execute();
    return rows.map((row) => row.key_id);
  }

  now(): Promise<number> {
    return this.#database.now();
  }

  async progress(): Promise<Progress | undefined> {
    return this.#database.db.selectFrom("prepaid_progress").select(["store", "ticks"]).executeTakeFirst();
  }

  /** Advances the store by one. @returns undefined if the row is gone */
  async tick(db: Kysely<PrepaidSchema> = this.#database.db): Promise<Progress | undefined> {
    return db
      .updateTable("prepaid_progress")
      .set((row) => ({ ticks: row("ticks", "+", 1) }))
      .returning(["store", "ticks"])
      .executeTakeFirst();
  }

  /**
   * Carries out claims or a swap in a transaction and advances the store by one in it, so that a guard notices a store that forgot
   * it. No key is closed while it runs. Only for PostgreSQL: in SQLite, spender-worker.ts stores claims and swaps.
   * @param known how far the store has come
   * @returns "restored" if it comes no further. Nothing is committed then, nor if the action throws, nor if all outcomes are refusals
   */
  async commit<T extends ClaimOutcome | SwapOutcome>(
    action: (db: Kysely<PrepaidSchema>) => Promise<readonly T[]>,
    known: Progress | undefined,
  ): Promise<Committed<readonly T[]> | "restored"> {
    const undone: (Committed<readonly T[]> | "restored")[] = [];
    try {
      return await this.#database.transaction([CLOSING], async (db) => {
        const result = await action(db);
        const isWritten = result.some(hasWritten);
        const progress = isWritten ? await this.tick(db) : undefined;
        if (isWritten && isAhead(known, progress)) return { result, progress };
        undone.push(isWritten ? "restored" : { result, progress });
        throw new Error("the transaction is undone");
      });
    } catch (error) {
      if (undone[0] !== undefined) return undone[0];
      throw error;
    }
  }

  /** Everything that an audit adds up, all at one moment. */
  sums() {
    return this.#database.snapshot(async (db) => ({
      groups: await this.metered.groups(db),
      swaps: await this.metered.swaps(db),
      totals: await this.#totals(db),
      closed: await this.closed(db),
    }));
  }

  /** Issued and redeemed tokens of all keys whose rows are kept. A returned token is not redeemed. */
  async #totals(db: Kysely<PrepaidSchema>): Promise<readonly Totals[]> {
    const issued = await db
      .selectFrom("prepaid_pack")
      .select((row) => ["key_id", row.fn.sum<number>("count").as("total")])
      .groupBy("key_id")
      .execute();
    const redeemed = await db
      .selectFrom("prepaid_token")
      .select((row) => ["key_id", row.fn.countAll<number>().as("total")])
      .where("returned_for", "is", null)
      .groupBy("key_id")
      .execute();
    const of = (rows: typeof issued, keyId: string) => Number(rows.find((row) => row.key_id === keyId)?.total ?? 0);
    const ids = new Set([...issued, ...redeemed].map((row) => row.key_id));
    return [...ids].map((keyId) => ({ keyId, issued: of(issued, keyId), redeemed: of(redeemed, keyId) }));
  }

  /** Deletes rows of keys that were closed more than a day ago, up to a limit per sweep. */
  async sweep(): Promise<void> {
    const latest = (await this.now()) - RETENTION_MS;
    const closed = this.#database.db.selectFrom("prepaid_closed").select("key_id").where("closed_at", "<=", latest);
    if ((await closed.limit(1).execute()).length === 0) return;
    const isClosed = sql`key_id in ${closed}`;
    await this.#delete("prepaid_pack", ["key_id", "batch"], isClosed, SWEEP_PACKS);
    await this.#delete("prepaid_token", ["key_id", "nonce"], isClosed, SWEEP_ROWS);
    await this.#delete("prepaid_swap", ["hash"], isClosed, SWEEP_ROWS);
    // A row is kept until the last key that could sign its change has ended.
    const hasEnded = sql`change_epoch < ${laterEpoch(epochOf(latest), -1)}`;
    // With `in`, SQLite would read all rows of closed keys, not the few whose change has ended.
    const isKeyClosed = sql`exists ${closed.where("key_id", "=", sql.ref<string>("prepaid_metered.key_id"))}`;
    await this.#delete("prepaid_metered", ["key_id", "nonce"], sql`${hasEnded} and ${isKeyClosed}`, SWEEP_ROWS);
  }

  /** @param key the columns of the table's primary key @param limit the largest number of rows that are deleted */
  async #delete(table: string, key: readonly string[], where: RawBuilder<unknown>, limit: number): Promise<void> {
    const columns = sql.join(key.map((name) => sql.ref(name)));
    await sql`
      delete from ${sql.table(table)}
      where (${columns}) in (select ${columns} from ${sql.table(table)} where ${where} limit ${limit})`.execute(
      this.#database.db,
    );
  }

  async end(): Promise<void> {
    await this.#database.close();
  }
}
