// PostgreSQL, directly or through a pooler such as pgbouncer. With its defaults, pgbouncer refuses startup parameters, and
// with pool_mode=transaction each transaction may use another server connection. So limits are set in each transaction.
import {
  CompiledQuery,
  type DatabaseConnection,
  Kysely,
  PostgresAdapter,
  PostgresDialect,
  PostgresDriver,
  sql,
} from "kysely";
import type { ClientBase, CustomTypesConfig } from "pg";
import type { Connection, ConnectOptions } from "./connection.ts";
import { assertPostgresUrl, resolveTls } from "./postgres-url.ts";
import { logger } from "./query-log.ts";

const INT8 = 20;
/** Maximum time of a statement, ms: one that hangs would keep its locks forever. */
const STATEMENT_MS = 20_000;
/** Later than the server's own limit, ms, so that the server's error arrives. */
const ANSWER_MS = 25_000;
/** A process that stops during a transaction loses its locks, so that another replica can take over, ms. */
const IDLE_MS = 5_000;
const CONNECT_MS = 5_000;

const LIMITS = `set local statement_timeout = ${STATEMENT_MS}; set local idle_in_transaction_session_timeout = ${IDLE_MS}`;

/**
 * Limits statements outside transactions too. Only on a direct connection: behind a pooler the settings would stay on a server
 * connection that other programs use, so there the client's time limit must do. A pooler shows itself by a process id that
 * is not the server's.
 */
async function limitSession(client: ClientBase): Promise<void> {
  const { processID } = client as ClientBase & { readonly processID?: number | null };
  await client.query(
    `select set_config('statement_timeout', $1, false), set_config('idle_in_transaction_session_timeout', $2, false)
     where pg_backend_pid() = $3`,
    [String(STATEMENT_MS), String(IDLE_MS), processID ?? 0],
  );
}

class LimitedDriver extends PostgresDriver {
  /** Begins and sets the limits in one round trip. */
  override async beginTransaction(
    connection: DatabaseConnection,
    { isolationLevel, accessMode }: Parameters<PostgresDriver["beginTransaction"]>[1],
  ): Promise<void> {
    const isolation = isolationLevel === undefined ? "" : ` isolation level ${isolationLevel}`;
    const begin = `start transaction${isolation}${accessMode === undefined ? "" : ` ${accessMode}`}`;
    await connection.executeQuery(CompiledQuery.raw(`${begin}; ${LIMITS}`));
  }
}

const MIGRATION_LOCK = 3_853_314_791_062_309_107n;

/**
 * Acquires the lock for migrations until the end of the transaction. Its id is the one that Kysely uses, so that replicas with
 * an older version of this package wait too.
 */
class TransactionLockAdapter extends PostgresAdapter {
  override async acquireMigrationLock(db: Kysely<unknown>): Promise<void> {
    await sql`select pg_advisory_xact_lock(${sql.lit(MIGRATION_LOCK)})`.execute(db);
  }

  override async releaseMigrationLock(): Promise<void> {}
}

class LimitedDialect extends PostgresDialect {
  readonly #config: ConstructorParameters<typeof PostgresDialect>[0];

  constructor(config: ConstructorParameters<typeof PostgresDialect>[0]) {
    super(config);
    this.#config = config;
  }

  override createAdapter(): PostgresAdapter {
    return new TransactionLockAdapter();
  }

  override createDriver(): PostgresDriver {
    return new LimitedDriver(this.#config);
  }
}

/** @throws DatabaseError INVALID_STORE_URL, STORE_UNAVAILABLE */
export async function connectPostgres<Schema>(options: ConnectOptions): Promise<Connection<Schema>> {
  const { url, poolSize = 10, onError = () => undefined, onQuery } = options;
  assertPostgresUrl(url);
  const connectionString = await resolveTls(url);
  // Programs with SQLite do not load it.
  const { default: pg } = await import("pg");
  const pool = new pg.Pool({
    connectionString,
    max: poolSize,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: ANSWER_MS,
    // The pool handles errors of idle clients only. Without this, a connection lost in a transaction would end the
    // process.
    onConnect(client) {
      client.on("error", onError);
      return limitSession(client);
    },
    // 64-bit columns contain times, block numbers and counters, all below 2^53.
    types: {
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        oid === INT8 ? (text: string) => Number(text) : pg.types.getTypeParser(oid, format ?? "text"),
    } as CustomTypesConfig,
  });
  pool.on("error", onError);
  const db = new Kysely<Schema>({ dialect: new LimitedDialect({ pool }), ...logger(onQuery) });
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
