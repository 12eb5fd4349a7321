import { type Lease, leasesIn, openDatabase } from "@sotto/database";
import type { Bytes32 } from "@sotto/protocol";
import { chainLine, encodeEntry, LOG_START, type LogEntry } from "../../core/log.ts";
import { type OriginSet, setId } from "../../core/set.ts";
import { CuratorError } from "../errors.ts";
import { type CuratorDatabase, type Db, MIGRATIONS } from "./schema.ts";

/** The key of every transaction that appends to the log or adds a head: their numbers have no gaps. */
const LOCK = "origin:log";
const LEADER = "leader";

export interface StoreOptions {
  readonly url: string;
  readonly set: OriginSet;
  readonly onError?: ((error: Error) => void) | undefined;
  readonly onQuery?: ((sql: string) => void) | undefined;
  /** Now, ms. */
  readonly clock?: (() => number) | undefined;
}

/**
 * The curator's database. A transaction of `write` sees the newest log and head, and no other one runs meanwhile.
 */
export class CuratorStore {
  readonly #database: CuratorDatabase;
  readonly #leases;

  private constructor(database: CuratorDatabase) {
    this.#database = database;
    this.#leases = leasesIn(database, "origin_leases");
  }

  /**
   * Opens the database and applies missing migrations.
   * @throws CuratorError ORIGIN_STORE_MISMATCH; DatabaseError STORE_UNAVAILABLE, STORE_TOO_NEW and others
   */
  static async open({ set, ...options }: StoreOptions): Promise<CuratorStore> {
    const store = new CuratorStore(await openDatabase({ ...options, name: "origin", migrations: MIGRATIONS }));
    try {
      await store.#assertSet(setId(set));
    } catch (error) {
      await store.close();
      throw error;
    }
    return store;
  }

  #assertSet(id: string): Promise<void> {
    return this.write(async (db) => {
      const row = await db.selectFrom("origin_facts").select("value").where("name", "=", "set").executeTakeFirst();
      if (row === undefined) await db.insertInto("origin_facts").values({ name: "set", value: id }).execute();
      else if (row.value !== id)
        throw new CuratorError("ORIGIN_STORE_MISMATCH", `the database belongs to the set ${row.value}, expected ${id}`);
    });
  }

  get db(): Db {
    return this.#database.db;
  }

  write<T>(action: (db: Db) => Promise<T>): Promise<T> {
    return this.#database.transaction([LOCK], action);
  }

  /** Like `write`, for the leader only. @throws DatabaseError LEASE_LOST */
  lead<T>(lease: Lease, action: (db: Db) => Promise<T>): Promise<T> {
    return this.#leases.fenced(lease, action, [LOCK]);
  }

  snapshot<T>(action: (db: Db) => Promise<T>): Promise<T> {
    return this.#database.snapshot(action);
  }

  /**
   * Acquires or renews the right to follow the chain, to judge and to sign. On PostgreSQL, it does not wait
   * for transactions of `write`.
   * @returns undefined while another replica has it
   */
  acquire(holder: string, ttlMs: number): Promise<Lease | undefined> {
    return this.#leases.acquire(LEADER, holder, ttlMs);
  }

  /** Releases the lease, so that another replica need not wait for its expiry. */
  release(lease: Lease): Promise<void> {
    return this.#leases.release(lease);
  }

  /** @throws DatabaseError STORE_UNAVAILABLE */
  ping(): Promise<void> {
    return this.#database.ping();
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}

/** Rows of one insert: SQLite accepts at most 32,766 values. */
const CHUNK = 2_000;

export async function inChunks<T>(rows: readonly T[], insert: (some: readonly T[]) => Promise<unknown>): Promise<void> {
  for (let i = 0; i < rows.length; i += CHUNK) await insert(rows.slice(i, i + CHUNK));
}

/** Appends to the log, in a transaction of `write`. */
export async function appendEntries(db: Db, entries: readonly LogEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const last = await db
    .selectFrom("origin_entries")
    .select(["number", "chain"])
    .orderBy("number", "desc")
    .limit(1)
    .executeTakeFirst();
  let chain = (last?.chain ?? LOG_START) as Bytes32;
  let number = last?.number ?? -1;
  const rows = entries.map((entry) => {
    const line = encodeEntry(entry);
    chain = chainLine(chain, line);
    number += 1;
    return { number, line, chain };
  });
  await inChunks(rows, (some) =>
    db
      .insertInto("origin_entries")
      .values([...some])
      .execute(),
  );
}

/** How often blocks were rolled back: what was read before such a change has to be read again. */
export async function generationOf(db: Db): Promise<number> {
  const row = await db.selectFrom("origin_facts").select("value").where("name", "=", "generation").executeTakeFirst();
  return Number(row?.value ?? 0);
}

export async function nextGeneration(db: Db): Promise<void> {
  const value = String((await generationOf(db)) + 1);
  await db
    .insertInto("origin_facts")
    .values({ name: "generation", value })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ value }))
    .execute();
}
