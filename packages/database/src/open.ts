import { sql } from "kysely";
import { type Connection, type ConnectOptions, connect } from "./connect.ts";
import { DatabaseError, isUnavailable } from "./errors.ts";
import { type Migrations, migrate } from "./migrate.ts";

/** The database to open, and its migrations. */
export interface OpenOptions extends ConnectOptions {
  /** Prefix of the two tables that record migrations: 1 to 32 characters of a-z and _. */
  name: string;
  /** Applied on opening, those that the database lacks. */
  migrations: Migrations;
}

/** An open and migrated database. */
export interface Database<Schema> extends Connection<Schema> {
  /** Asks the database for a constant, for readiness checks. @throws DatabaseError STORE_UNAVAILABLE */
  ping(): Promise<void>;
  /** Closes all connections. */
  close(): Promise<void>;
}

const NAME = /^[a-z_]{1,32}$/;

/**
 * Opens the database and applies missing migrations.
 * @throws DatabaseError INVALID_STORE_URL, STORE_UNAVAILABLE, STORE_TOO_NEW, NODE_TOO_OLD
 */
export async function openDatabase<Schema>({ name, migrations, ...options }: OpenOptions): Promise<Database<Schema>> {
  if (!NAME.test(name)) throw new TypeError("a database's name must have 1 to 32 characters of a-z and _");
  const connection = await connect<Schema>(options);
  const { db } = connection;
  try {
    await migrate(db, name, migrations);
  } catch (cause) {
    await db.destroy();
    if (!isUnavailable(cause)) throw cause;
    throw new DatabaseError("STORE_UNAVAILABLE", "the database does not answer", {}, { cause });
  }
  return {
    ...connection,
    async ping() {
      try {
        await sql`select 1`.execute(db);
      } catch (cause) {
        throw new DatabaseError("STORE_UNAVAILABLE", "the database does not answer", {}, { cause });
      }
    },
    close: () => db.destroy(),
  };
}
