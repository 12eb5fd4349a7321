// A connection to either database, and the transactions of one as those of the other.
import { chmodSync, closeSync, mkdirSync, openSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { checkNodeVersion } from "@sotto/protocol/node-version";
import { Kysely, type LogEvent, PostgresDialect, sql } from "kysely";
import pg from "pg";
import { DatabaseError } from "./errors.ts";
import { NodeSqliteDialect } from "./sqlite-dialect.ts";

export interface Connection<Schema> {
  readonly kind: "sqlite" | "postgres";
  readonly db: Kysely<Schema>;
  /**
   * Runs `action` in a transaction that no other with one of these keys runs beside. Keys are taken in one order, so
   * that two of them never wait for each other.
   */
  transaction<T>(keys: readonly string[], action: (db: Kysely<Schema>) => Promise<T>): Promise<T>;
  /** Runs reads that all see one moment. With PostgreSQL nobody waits for them; with SQLite everybody does. */
  snapshot<T>(action: (db: Kysely<Schema>) => Promise<T>): Promise<T>;
  /** Now in ms by the database's clock (SQLite: by `clock`): the same for all replicas. */
  now(db?: Kysely<Schema>): Promise<number>;
  /**
   * Takes what was deleted or replaced out of SQLite's log, where it would stay until it is written over; with
   * `secureDelete` it is then in no file. Where another process reads at that moment, the next call does it. PostgreSQL
   * does it by itself, in its own time (vacuum).
   */
  scrub(): Promise<void>;
}

export interface ConnectOptions {
  /** `sqlite:PATH` (made if it does not exist, readable by its owner alone), `sqlite::memory:`, or `postgres://..`. */
  url: string;
  /** Connections to PostgreSQL, 10 if left out. */
  poolSize?: number;
  /** Called when an idle connection is lost; the pool opens another. */
  onError?: (error: Error) => void;
  /** Called after each query, with its text and never its values: for tests and metrics. */
  onQuery?: (sql: string) => void;
  /** Now in ms, for SQLite; for tests. */
  clock?: () => number;
  /** Whether SQLite overwrites what is deleted, for tables out of which things have to be gone. */
  secureDelete?: boolean;
}

const INT8 = 20;

/** @throws DatabaseError INVALID_STORE_URL, STORE_UNAVAILABLE, NODE_TOO_OLD */
export function connect<Schema>(options: ConnectOptions): Connection<Schema> {
  const { url } = options;
  if (/^sqlite:./.test(url)) return connectSqlite(url.slice("sqlite:".length), options);
  if (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url)) return connectPostgres(options);
  throw new DatabaseError(
    "INVALID_STORE_URL",
    "the store's address must be sqlite:PATH or postgres://USER@HOST/DATABASE",
  );
}

const logger = (onQuery: ConnectOptions["onQuery"]) =>
  onQuery === undefined ? {} : { log: (event: LogEvent) => onQuery(event.query.sql) };

function connectSqlite<Schema>(
  path: string,
  { onQuery, clock = Date.now, secureDelete = false }: ConnectOptions,
): Connection<Schema> {
  const problem = checkNodeVersion(process.versions.node);
  if (problem !== undefined) throw new DatabaseError("NODE_TOO_OLD", problem);
  // Not imported: an older Node would not even load this module, and say so with a stack trace.
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  let file: DatabaseSync;
  try {
    if (path !== ":memory:") {
      mkdirSync(dirname(resolve(path)), { recursive: true });
      // What servers of payments keep shows who deals with whom: for its owner's eyes only.
      closeSync(openSync(path, "a", 0o600));
      chmodSync(path, 0o600);
    }
    file = new DatabaseSync(path);
    // FULL: what was answered survives a power cut.
    file.exec("pragma busy_timeout = 5000; pragma journal_mode = wal; pragma synchronous = full;");
    // From here on the dialect waits, without stopping the event loop.
    file.exec("pragma foreign_keys = on; pragma busy_timeout = 0;");
    if (secureDelete) file.exec("pragma secure_delete = on;");
  } catch (cause) {
    throw new DatabaseError("STORE_UNAVAILABLE", `the database file ${path} cannot be opened`, {}, { cause });
  }
  const db = new Kysely<Schema>({ dialect: new NodeSqliteDialect(file), ...logger(onQuery) });
  return {
    kind: "sqlite",
    db,
    // `begin immediate`: one writing transaction at a time, whatever its keys.
    transaction: (_keys, action) => db.transaction().execute(action),
    snapshot: (action) => db.transaction().execute(action),
    now: async () => clock(),
    async scrub() {
      await sql`pragma wal_checkpoint(truncate)`.execute(db);
    },
  };
}

function connectPostgres<Schema>(options: ConnectOptions): Connection<Schema> {
  const { url, poolSize = 10, onError = () => undefined, onQuery } = options;
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: 5_000,
    // A query that hangs would hold its locks for ever.
    statement_timeout: 20_000,
    query_timeout: 25_000,
    // One that was stopped in mid-transaction lets go of its locks: another replica takes over.
    idle_in_transaction_session_timeout: 5_000,
    // 64-bit columns hold times, block numbers and counters: all below 2^53.
    types: {
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        oid === INT8 ? (text: string) => Number(text) : pg.types.getTypeParser(oid, format ?? "text"),
    } as pg.CustomTypesConfig,
  });
  pool.on("error", onError);
  // The pool listens to idle clients only: without this a lost connection would end the process in mid-transaction.
  pool.on("connect", (client) => client.on("error", onError));
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }), ...logger(onQuery) });
  return {
    kind: "postgres",
    db,
    transaction: (keys, action) =>
      db.transaction().execute(async (transaction) => {
        for (const key of [...new Set(keys)].sort())
          await sql`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`.execute(transaction);
        return action(transaction);
      }),
    snapshot: (action) =>
      db.transaction().setIsolationLevel("repeatable read").setAccessMode("read only").execute(action),
    async now(connection = db) {
      const { rows } = await sql<{ now: number }>`
        select (extract(epoch from clock_timestamp()) * 1000)::bigint as now`.execute(connection);
      return rows[0]!.now;
    },
    scrub: async () => undefined,
  };
}
