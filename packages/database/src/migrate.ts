import type { Kysely } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { DatabaseError } from "./errors.ts";

/**
 * By name, applied in order of the names. One that was released is never changed: another follows it. A migration that
 * stops halfway leaves nothing behind.
 */
export type Migrations = Readonly<Record<string, Migration>>;

/**
 * Brings the tables up to date. Replicas that start together wait for one another: PostgreSQL by an advisory lock,
 * SQLite by its write lock.
 *
 * @param name of the program: two that share a database each keep account of their own migrations, in `NAME_migration`
 * @throws DatabaseError STORE_TOO_NEW where the database knows a migration that this version does not
 */
export async function migrate<Schema>(db: Kysely<Schema>, name: string, migrations: Migrations): Promise<void> {
  const { error } = await new Migrator({
    db,
    provider: { getMigrations: async () => ({ ...migrations }) },
    migrationTableName: `${name}_migration`,
    migrationLockTableName: `${name}_migration_lock`,
  }).migrateToLatest();
  if (error === undefined) return;
  if (error instanceof Error && error.message.startsWith("corrupted migrations"))
    throw new DatabaseError(
      "STORE_TOO_NEW",
      "the database was written by a newer version of the program",
      { name },
      { cause: error },
    );
  throw error;
}
