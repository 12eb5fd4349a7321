import { sql } from "kysely";
import { connect } from "./connect.ts";
import type { Connection, ConnectOptions } from "./connection.ts";
import { DatabaseError, isUnavailable } from "./errors.ts";
import { type Migrations, migrate } from "./migrate.ts";
import { nameRefusal } from "./refusals.ts";

/** The database to open, and its migrations. */
export interface OpenOptions extends ConnectOptions {
  /** Prefix of the tables that record migrations and pings: 1 to 32 characters of a-z and _. */
  name: string;
  /** Applied on opening, those that the database lacks. */
  migrations: Migrations;
}

/** An open and migrated database. */
export interface Database<Schema> extends Connection<Schema> {
  /**
   * Writes a row, for readiness checks: a database on a full disk, or one that is a standby, still answers reads.
   * @throws DatabaseError STORE_UNAVAILABLE
   */
  ping(): Promise<void>;
  /** Closes all connections. */
  close(): Promise<void>;
}

const NAME = /^[a-z_]{1,32}$/;

/**
 * Opens the database and applies missing migrations.
 * @throws DatabaseError INVALID_STORE_URL, STORE_UNAVAILABLE, STORE_NOT_FOUND, STORE_ACCESS_DENIED, STORE_TLS_FAILED,
 * STORE_PARAMETER_REFUSED, STORE_TOO_NEW, NODE_TOO_OLD
 */
export async function openDatabase<Schema>({ name, migrations, ...options }: OpenOptions): Promise<Database<Schema>> {
  if (!NAME.test(name)) throw new TypeError("a database's name must have 1 to 32 characters of a-z and _");
  const connection = await connect<Schema>(options);
  const { db } = connection;
  const table = sql.table(`${name}_ping`);
  try {
    await migrate(connection, name, migrations);
    // PostgreSQL refuses `if not exists` to a role that may change rows but create no tables, even if the table exists.
    const exists = await sql`select at from ${table}`.execute(db).then(
      () => true,
      () => false,
    );
    if (!exists)
      // Replicas that start together would create the table at the same time.
      await connection.transaction([`${name}_ping`], async (transaction) => {
        await sql`create table if not exists ${table} (id integer primary key, at bigint not null)`.execute(
          transaction,
        );
      });
  } catch (cause) {
    await db.destroy();
    const refusal = nameRefusal(cause);
    if (refusal !== undefined) throw refusal;
    if (!isUnavailable(cause)) throw cause;
    throw new DatabaseError("STORE_UNAVAILABLE", "the database does not answer", {}, { cause });
  }
  return {
    ...connection,
    async ping() {
      try {
        // The time, because a row that stays the same need not be written.
        const written = sql`insert into ${table} (id, at) values (1, ${Date.now()})`;
        await sql`${written} on conflict (id) do update set at = excluded.at`.execute(db);
      } catch (cause) {
        throw (
          nameRefusal(cause) ?? new DatabaseError("STORE_UNAVAILABLE", "the database does not answer", {}, { cause })
        );
      }
    },
    close: () => db.destroy(),
  };
}
