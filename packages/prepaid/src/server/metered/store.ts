// What tokens paid for at metered routes: what runs, what was charged, and the change and swaps that were signed.
import type { Database } from "@sotto/database";
import { type Kysely, type RawBuilder, sql } from "kysely";
import { jsonElements } from "../json-elements.ts";
import type { MeteredRow, PrepaidSchema, SwapRow } from "../schema.ts";
import { spendId, type TokenId } from "../token-id.ts";

/** What is stored with a token that pays for a request of a metered route. */
export interface MeteredSpend {
  /** Value of the token, base units, decimal. */
  readonly cap: string;
  /** The rule as JSON. */
  readonly rule: string;
  readonly method: string;
  readonly target: string;
  /** The current month. */
  readonly epoch: string;
  /** The month whose keys sign the change. */
  readonly changeEpoch: string;
  /** How long the request may run, ms. */
  readonly durationMs: number;
}

/** What a request has used so far, or in total. */
export interface ChargeUpdate extends TokenId {
  /** The order that spent the token. */
  readonly holder: string;
  /** Counts by name as JSON. */
  readonly units: string;
  /** Base units, decimal. */
  readonly charge: string;
  /** Whether it is final. */
  readonly ends: boolean;
}

/** A claim to be stored. */
export interface StoredClaim extends TokenId {
  /** The keys of the change. */
  readonly keyIds: readonly string[];
  readonly receipt: string;
  readonly change?: { readonly batch: string; readonly signatures: Uint8Array } | undefined;
}

/** A swap to be stored, with the tokens that it spends. */
export interface StoredSwap extends Omit<SwapRow, "spent"> {
  readonly tokens: readonly TokenId[];
}

/** What is stored of claims. */
export type Stored = Pick<MeteredRow, "receipt" | "batch" | "signatures">;

/**
 * What is stored, and whether this claim has stored some of it; "closed" if a key of the change is closed, undefined if the charge is
 * not final.
 */
export type ClaimOutcome = (Stored & { readonly isNew: boolean }) | "closed" | undefined;

/** Whether a swap was made, or why not: a key is closed, or one of its tokens was spent before. */
export type SwapOutcome = "made" | "closed" | "spent";

/** A spent token, with the time that its request still has, ms. */
export type FoundRow = MeteredRow & { readonly remaining: number };

/** Rows with equal rule, charge, state and months, and how many there are. */
export interface MeteredGroup
  extends Pick<MeteredRow, "key_id" | "cap" | "rule" | "charge" | "state" | "change_epoch"> {
  /** Whether change was signed. */
  readonly signed: boolean;
  readonly count: number;
}

export class MeteredStore {
  readonly #database: Database<PrepaidSchema>;
  readonly #clock: () => number;

  constructor(database: Database<PrepaidSchema>, clock: () => number) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Now by the database's clock, ms, within a statement. */
  get #now(): RawBuilder<number> {
    return this.#database.kind === "sqlite"
      ? sql`${this.#clock()}`
      : sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
  }

  /**
   * The part of the statement that spends tokens which stores those of metered routes. Only for PostgreSQL, like that
   * statement: in SQLite, spender-worker.ts inserts them.
   */
  insertRunning(holder: string): RawBuilder<unknown> {
    const metered = (name: string) => sql`value -> 'metered' ->> ${sql.lit(name)}`;
    return sql`
      insert into prepaid_metered
        (key_id, nonce, cap, rule, method, target, epoch, change_epoch, state, deadline, units, charge, holder)
      select value ->> 'keyId', value ->> 'nonce', ${metered("cap")}, ${metered("rule")}, ${metered("method")},
        ${metered("target")}, ${metered("epoch")}, ${metered("changeEpoch")}, 'running',
        ${this.#now} + (${metered("durationMs")})::bigint, '{}', '0', ${sql.val(holder)}
      from shown join spent on spent.key_id = value ->> 'keyId' and spent.nonce = value ->> 'nonce'
      where value -> 'metered' is not null`;
  }

  async find({ keyId, nonce }: TokenId): Promise<FoundRow | undefined> {
    return this.#database.db
      .selectFrom("prepaid_metered")
      .selectAll()
      .select(sql<number>`deadline - ${this.#now}`.as("remaining"))
      .where("key_id", "=", keyId)
      .where("nonce", "=", nonce)
      .executeTakeFirst();
  }

  /**
   * Stores what requests used, in one statement, unless their deadlines have passed. A final charge that is stored again is stored:
   * the answer to its commit may have been lost.
   * @param updates at most one for each token
   * @returns whether it was stored, for each
   */
  async update(updates: readonly ChargeUpdate[]): Promise<boolean[]> {
    const values = updates.map(({ keyId, nonce, holder, units, charge, ends }) => [
      ...[keyId, nonce, holder, ends ? "charged" : "running"],
      ...[units, charge],
    ]);
    const { rows } = await sql<{ key_id: string; nonce: string }>`
      update prepaid_metered set state = value ->> 3, units = value ->> 4, charge = value ->> 5
      from ${jsonElements(this.#database, values)}
      where key_id = value ->> 0 and nonce = value ->> 1 and holder = value ->> 2
      and (state = 'running' and deadline > ${this.#now}
        or state = 'charged' and value ->> 3 = 'charged' and units = value ->> 4 and charge = value ->> 5)
      returning key_id, nonce`.execute(this.#database.db);
    const stored = new Set(rows.map((row) => spendId({ keyId: row.key_id, nonce: row.nonce })));
    return updates.map((update) => stored.has(spendId(update)));
  }

  /** Makes the last checkpoint of a request final once its deadline has passed. */
  async closeOverdue({ keyId, nonce }: TokenId): Promise<void> {
    await this.#database.db
      .updateTable("prepaid_metered")
      .set({ state: "charged" })
      .where("key_id", "=", keyId)
      .where("nonce", "=", nonce)
      .where("state", "=", "running")
      .where("deadline", "<=", this.#now)
      .execute();
  }

  /**
   * Stores receipts and signatures, within a transaction. What was stored first stays. Only for PostgreSQL, as `swap`: in SQLite,
   * write-commits.ts has the same statements.
   */
  async claim(db: Kysely<PrepaidSchema>, claims: readonly StoredClaim[]): Promise<readonly ClaimOutcome[]> {
    const stored: ClaimOutcome[] = claims.map(() => undefined);
    const closed = await closedOf(
      db,
      claims.flatMap(({ keyIds }) => keyIds),
    );
    // In one order, so that two servers never wait for each other.
    const order = claims.map((_, i) => i).sort((a, b) => byToken(claims[a]!, claims[b]!));
    for (const i of order) {
      const { keyId, nonce, keyIds, receipt, change } = claims[i]!;
      if (keyIds.some((id) => closed.has(id))) {
        stored[i] = "closed";
        continue;
      }
      const set =
        change === undefined
          ? { receipt }
          : { receipt: sql<string>`coalesce(receipt, ${receipt})`, batch: change.batch, signatures: change.signatures };
      const written = await db
        .updateTable("prepaid_metered")
        .set(set)
        .where("key_id", "=", keyId)
        .where("nonce", "=", nonce)
        .where("state", "=", "charged")
        .where(change === undefined ? "receipt" : "batch", "is", null)
        .returning(["receipt", "batch", "signatures"])
        .executeTakeFirst();
      const found = written ?? (await this.#charged(db, claims[i]!));
      stored[i] = found && { ...found, isNew: written !== undefined };
    }
    return stored;
  }

  async #charged(db: Kysely<PrepaidSchema>, { keyId, nonce }: TokenId): Promise<Stored | undefined> {
    return db
      .selectFrom("prepaid_metered")
      .select(["receipt", "batch", "signatures"])
      .where("key_id", "=", keyId)
      .where("nonce", "=", nonce)
      .where("state", "=", "charged")
      .executeTakeFirst();
  }

  /** The signatures of a swap that was made before, and the key of its new tokens. */
  async swapped(hash: string): Promise<Pick<SwapRow, "signatures" | "key_id"> | undefined> {
    const swaps = this.#database.db.selectFrom("prepaid_swap").select(["signatures", "key_id"]);
    return swaps.where("hash", "=", hash).executeTakeFirst();
  }

  /** Whether one of the tokens was spent before. */
  async isSpent(tokens: readonly TokenId[]): Promise<boolean> {
    const row = await this.#database.db
      .selectFrom("prepaid_token")
      .select("nonce")
      .where((where) => where.or(tokens.map(({ keyId, nonce }) => where.and({ key_id: keyId, nonce }))))
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  }

  /**
   * Spends the tokens of a swap and stores its signatures, within a transaction, which `PrepaidStore.commit` undoes if it is refused.
   * @returns "closed" if one of the keys is closed, "spent" if one of the tokens was spent before
   */
  async swap(db: Kysely<PrepaidSchema>, { tokens, ...swap }: StoredSwap): Promise<SwapOutcome> {
    const closed = await closedOf(db, [swap.key_id, ...tokens.map(({ keyId }) => keyId)]);
    if (closed.size > 0) return "closed";
    const rows = [...tokens]
      .sort(byToken)
      .map(({ keyId, nonce }) => ({ key_id: keyId, nonce, holder: `swap:${swap.hash}`, returns: 0 }));
    const { numInsertedOrUpdatedRows } = await db
      .insertInto("prepaid_token")
      .values(rows)
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    if (numInsertedOrUpdatedRows !== BigInt(rows.length)) return "spent";
    const spent = JSON.stringify(tokens.map(({ keyId }) => keyId));
    await db
      .insertInto("prepaid_swap")
      .values({ ...swap, spent })
      .execute();
    return "made";
  }

  /** All rows, as groups. */
  async groups(db: Kysely<PrepaidSchema>): Promise<readonly MeteredGroup[]> {
    const rows = await db
      .selectFrom("prepaid_metered")
      .select(["key_id", "cap", "rule", "charge", "change_epoch"])
      // After its deadline, a request costs its last checkpoint, although only a claim stores that. A claim signs change afterwards.
      .select(
        sql<MeteredRow["state"]>`case when deadline <= ${this.#now} and batch is null then 'charged' else state end`.as(
          "settled_state",
        ),
      )
      .select((row) => [row.fn.count<number>("nonce").as("count"), row.fn.count<number>("batch").as("signed")])
      .groupBy(["key_id", "cap", "rule", "charge", "change_epoch"])
      .groupBy(sql`settled_state`)
      .groupBy(sql`batch is null`)
      .execute();
    return rows.map(({ settled_state: state, ...row }) => ({
      ...{ ...row, state },
      signed: Number(row.signed) > 0,
      count: Number(row.count),
    }));
  }

  /** All swaps, as groups of equal keys. */
  async swaps(
    db: Kysely<PrepaidSchema>,
  ): Promise<readonly (Pick<SwapRow, "key_id" | "count" | "spent"> & { readonly swaps: number })[]> {
    const rows = await db
      .selectFrom("prepaid_swap")
      .select(["key_id", "count", "spent"])
      .select((row) => row.fn.count<number>("hash").as("swaps"))
      .groupBy(["key_id", "count", "spent"])
      .execute();
    return rows.map((row) => ({ ...row, swaps: Number(row.swaps) }));
  }
}

/** The order in which every statement locks tokens, so that two servers never wait for each other. */
function byToken(a: TokenId, b: TokenId): number {
  const [first, second] = [spendId(a), spendId(b)];
  if (first === second) return 0;
  return first < second ? -1 : 1;
}

/** Those of the keys that are closed. */
async function closedOf(db: Kysely<PrepaidSchema>, keyIds: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom("prepaid_closed")
    .select("key_id")
    .where("key_id", "in", [...new Set(keyIds)])
    .execute();
  return new Set(rows.map(({ key_id }) => key_id));
}
