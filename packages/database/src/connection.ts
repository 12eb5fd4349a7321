import type { Kysely } from "kysely";

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
