// A connection to SQLite or PostgreSQL with the same interface and the same transactions.
import { chmodSync, closeSync, mkdirSync, openSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { checkNodeVersion } from "@sotto/protocol/node-version";
import { Kysely, type LogEvent, PostgresDialect, sql } from "kysely";
import type { CustomTypesConfig } from "pg";
import { DatabaseError } from "./errors.ts";
import { NodeSqliteDialect } from "./sqlite-dialect.ts";

/** A connection to a database, with transactions under locks. */
export interface Connection<Schema> {
  /** The database that the URL named. */
  readonly kind: "sqlite" | "postgres";
  /** For queries outside of a transaction. In `transaction`, use the one that `action` receives. */
  readonly db: Kysely<Schema>;
  /**
   * Runs `action` in a transaction. Transactions that share a key never run concurrently. Keys are locked in a fixed
   * order, so that two transactions never wait for each other.
   */
  transaction<T>(keys: readonly string[], action: (db: Kysely<Schema>) => Promise<T>): Promise<T>;
  /** Runs reads that all see the same state. On PostgreSQL they block nothing; on SQLite they block every other query. */
  snapshot<T>(action: (db: Kysely<Schema>) => Promise<T>): Promise<T>;
  /** The time in ms by the database's clock, which all replicas share; on SQLite by `clock`. */
  now(db?: Kysely<Schema>): Promise<number>;
  /**
   * Truncates SQLite's write-ahead log, which keeps deleted and replaced rows until it is overwritten. With
   * `secureDelete`, no file contains these rows afterwards. It does nothing while another process reads; call it again
   * later. On PostgreSQL it does nothing: vacuum removes such rows.
   */
  scrub(): Promise<void>;
}

/** The database to connect to. */
export interface ConnectOptions {
  /** `sqlite:PATH` (created if it does not exist, readable only by its owner), `sqlite::memory:`, or `postgres://..`. */
  url: string;
  /** Maximum connections to PostgreSQL; default 10. */
  poolSize?: number | undefined;
  /** Called when an idle connection is lost; the pool opens another. */
  onError?: ((error: Error) => void) | undefined;
  /** Called after each query with its text, never with its values; for tests and metrics. */
  onQuery?: ((sql: string) => void) | undefined;
  /** The time in ms on SQLite; for tests. */
  clock?: (() => number) | undefined;
  /** Whether SQLite overwrites deleted rows, for tables with personal data. */
  secureDelete?: boolean | undefined;
}

const INT8 = 20;

/** @throws DatabaseError INVALID_STORE_URL, STORE_UNAVAILABLE, NODE_TOO_OLD */
export async function connect<Schema>(options: ConnectOptions): Promise<Connection<Schema>> {
  const { url } = options;
  if (/^sqlite:./.test(url)) return connectSqlite(url.slice("sqlite:".length), options);
  if (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url)) return connectPostgres(options);
  throw new DatabaseError("INVALID_STORE_URL", "the store's URL must be sqlite:PATH or postgres://USER@HOST/DATABASE");
}

const logger = (onQuery: ConnectOptions["onQuery"]) =>
  onQuery === undefined ? {} : { log: (event: LogEvent) => onQuery(event.query.sql) };

function connectSqlite<Schema>(
  path: string,
  { onQuery, clock = Date.now, secureDelete = false }: ConnectOptions,
): Connection<Schema> {
  const problem = checkNodeVersion(process.versions.node);
  if (problem !== undefined) throw new DatabaseError("NODE_TOO_OLD", problem);
  // Not a static import: with one, an older Node could not load this module and would print a stack trace instead of
  // the message above.
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  let file: DatabaseSync;
  try {
    if (path !== ":memory:") {
      mkdirSync(dirname(resolve(path)), { recursive: true });
      // Payment data reveals business relations, so only the owner may read the file.
      closeSync(openSync(path, "a", 0o600));
      chmodSync(path, 0o600);
    }
    file = new DatabaseSync(path);
    // FULL: a committed transaction survives a power cut.
    file.exec("pragma busy_timeout = 5000; pragma journal_mode = wal; pragma synchronous = full;");
    // From now on NodeSqliteDialect waits for locks, without blocking the event loop.
    file.exec("pragma foreign_keys = on; pragma busy_timeout = 0;");
    if (secureDelete) file.exec("pragma secure_delete = on;");
  } catch (cause) {
    throw new DatabaseError("STORE_UNAVAILABLE", `the database file ${path} cannot be opened`, {}, { cause });
  }
  const db = new Kysely<Schema>({ dialect: new NodeSqliteDialect(file), ...logger(onQuery) });
  return {
    kind: "sqlite",
    db,
    // `begin immediate` allows one transaction at a time, so the keys are not needed.
    transaction: (_keys, action) => db.transaction().execute(action),
    snapshot: (action) => db.transaction().execute(action),
    now: async () => clock(),
    async scrub() {
      await sql`pragma wal_checkpoint(truncate)`.execute(db);
    },
  };
}

async function connectPostgres<Schema>(options: ConnectOptions): Promise<Connection<Schema>> {
  const { url, poolSize = 10, onError = () => undefined, onQuery } = options;
  // Programs with SQLite do not load it.
  const { default: pg } = await import("pg");
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: 5_000,
    // A query that hangs would keep its locks forever.
    statement_timeout: 20_000,
    query_timeout: 25_000,
    // A process that stops during a transaction loses its locks, so that another replica can take over.
    idle_in_transaction_session_timeout: 5_000,
    // 64-bit columns contain times, block numbers and counters, all below 2^53.
    types: {
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        oid === INT8 ? (text: string) => Number(text) : pg.types.getTypeParser(oid, format ?? "text"),
    } as CustomTypesConfig,
  });
  pool.on("error", onError);
  // The pool handles errors of idle clients only. Without this, a connection lost in a transaction would end the
  // process.
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
