import type { Kysely } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { DatabaseError } from "./errors.ts";

/**
 * Migrations by name, applied in the order of their names. A released migration never changes; later ones correct it.
 * Each runs in a transaction, so a failed migration changes nothing.
 */
export type Migrations = Readonly<Record<string, Migration>>;

/**
 * Applies the missing migrations. Replicas that start together wait for each other: on PostgreSQL by an advisory lock, on
 * SQLite by its write lock.
 *
 * @param name of the program. Two programs may share a database: each records its migrations in `NAME_migration`.
 * @throws DatabaseError STORE_TOO_NEW if the database has a migration that this version does not know
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
