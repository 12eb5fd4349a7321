import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import {
  type CompiledQuery,
  type DatabaseConnection,
  type DatabaseIntrospector,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";

const LOCK_TIMEOUT_MS = 5_000;
const LOCK_POLL_MS = 1;
/** Maximum number of prepared statements that are kept. Lists of values (`in`) make a statement for each length. */
const MAX_STATEMENTS = 256;

/** Waits for the lock of another process. SQLite's own timeout would block this process's event loop while it waits. */
async function whenFree<T>(action: () => T): Promise<T> {
  const end = Date.now() + LOCK_TIMEOUT_MS;
  for (;;) {
    try {
      return action();
    } catch (error) {
      if (!(error instanceof Error) || error.message !== "database is locked" || Date.now() > end) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, LOCK_POLL_MS));
  }
}

/**
 * SQLite can change tables in transactions. With `begin immediate`, migrations of several processes never run
 * concurrently.
 */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/**
 * Kysely's dialect for Node's built-in SQLite. All queries and transactions share one connection and wait for each
 * other: SQLite allows one writer anyway, and its calls are synchronous.
 */
export class NodeSqliteDialect implements Dialect {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  createAdapter = () => new TransactionalSqliteAdapter();
  createDriver = (): Driver => new NodeSqliteDriver(this.#database);
  createQueryCompiler = () => new SqliteQueryCompiler();
  createIntrospector = (db: Kysely<unknown>): DatabaseIntrospector => new SqliteIntrospector(db);
}

class NodeSqliteDriver implements Driver {
  readonly #database: DatabaseSync;
  readonly #connection: DatabaseConnection;
  /** Node 22.13 has no `DatabaseSync.isOpen`. */
  #isOpen = true;
  #busy: Promise<void> = Promise.resolve();
  #release: (() => void) | undefined;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#connection = new NodeSqliteConnection(database);
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    const before = this.#busy;
    let release: (() => void) | undefined;
    this.#busy = new Promise((resolve) => {
      release = resolve;
    });
    await before;
    this.#release = release;
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {
    this.#release?.();
  }

  /** Acquires the write lock before the first read, so that the rows it reads cannot change before it writes. */
  beginTransaction(): Promise<void> {
    return whenFree(() => this.#database.exec("begin immediate"));
  }

  async commitTransaction(): Promise<void> {
    this.#database.exec("commit");
  }

  async rollbackTransaction(): Promise<void> {
    try {
      this.#database.exec("rollback");
    } catch (error) {
      // A failed commit (a full disk) may have rolled back by itself. Node 22.13 has no `isTransaction` to check.
      if (!(error instanceof Error) || !error.message.includes("no transaction is active")) throw error;
    }
  }

  async destroy(): Promise<void> {
    if (this.#isOpen) this.#database.close();
    this.#isOpen = false;
  }
}

class NodeSqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSync;
  /** By their SQL, least recently used first. SQLite prepares them again by itself after the schema changed. */
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  async executeQuery<R>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<R>> {
    const values = parameters as SQLInputValue[];
    // Retrying is safe: within a transaction we hold the lock, and outside one a statement that finds the database
    // locked changes nothing.
    return whenFree(() => this.#run<R>(sql, values, query));
  }

  #run<R>(sql: string, values: SQLInputValue[], query: CompiledQuery["query"]): QueryResult<R> {
    const statement = this.#prepare(sql);
    const reads =
      query.kind === "SelectQueryNode" || query.kind === "RawNode" || ("returning" in query && query.returning);
    if (reads) return { rows: readRows(statement, values) as R[] };
    const { changes } = statement.run(...values);
    return { numAffectedRows: BigInt(changes), rows: [] };
  }

  /** Preparing a statement takes as long as running it. */
  #prepare(sql: string): StatementSync {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.delete(sql);
    this.#statements.set(sql, statement);
    if (this.#statements.size > MAX_STATEMENTS) this.#statements.delete(this.#statements.keys().next().value!);
    return statement;
  }

  // biome-ignore lint/correctness/useYield: Kysely's interface requires it; results are not streamed.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error("results are not streamed");
  }
}

/** All rows of a query. Reading many of them as arrays takes a third of the time. */
function readRows(statement: StatementSync, values: SQLInputValue[]): Record<string, unknown>[] {
  // Node 22.13 cannot read arrays.
  if (typeof statement.setReturnArrays !== "function") return statement.all(...values).map((row) => ({ ...row }));
  statement.setReturnArrays(true);
  const rows = statement.all(...values) as unknown as SQLOutputValue[][];
  if (rows.length === 0) return [];
  // Only now: SQLite prepares a statement again when it runs after the schema changed.
  const names = statement.columns().map(({ name }) => name);
  return rows.map((row) => {
    const named: Record<string, unknown> = {};
    for (let i = 0; i < names.length; i += 1) named[names[i]!] = row[i];
    return named;
  });
}
