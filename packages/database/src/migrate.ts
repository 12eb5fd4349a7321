import { quoted } from "@sotto/protocol";
import { sql } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import type { Connection } from "./connection.ts";
import { DatabaseError } from "./errors.ts";

/**
 * Migrations by name. Those that a database lacks are applied in the order of their names. A released migration never changes;
 * later ones correct it. They run in one transaction, so a failed migration changes nothing.
 */
export type Migrations = Readonly<Record<string, Migration>>;

/**
 * Applies the missing migrations. Replicas that start together wait for each other. Kysely's own lock belongs to a session on
 * PostgreSQL: behind a pooler, it would be released on a different connection than the one that acquired it, and stay held. So
 * the lock belongs to the transaction.
 * @param name the name of the program. Two programs may share a database: each records its migrations in `NAME_migration`.
 * @throws DatabaseError STORE_TOO_NEW if the database has a migration that is not among these
 */
export function migrate<Schema>(connection: Connection<Schema>, name: string, migrations: Migrations): Promise<void> {
  const table = `${name}_migration`;
  return connection.transaction([table], async (db) => {
    const { error } = await new Migrator({
      db,
      provider: { getMigrations: async () => ({ ...migrations }) },
      migrationTableName: table,
      migrationLockTableName: `${name}_migration_lock`,
      // The migrations of an extension that is added later may sort before those that have run.
      allowUnorderedMigrations: true,
    }).migrateToLatest();
    if (error === undefined) return;
    if (!(error instanceof Error && error.message.startsWith("corrupted migrations"))) throw error;
    const { rows } = await sql<{ name: string }>`select name from ${sql.table(table)} order by name`.execute(db);
    const unknown = rows.map((row) => row.name).filter((migration) => !Object.hasOwn(migrations, migration));
    if (unknown.length === 0) throw error;
    throw new DatabaseError(
      "STORE_TOO_NEW",
      `the database has migrations that this program lacks: ${quoted(unknown.join(", "))}; start the newer version that ` +
        "made them, or add the extension that they belong to",
      { name },
      { cause: error },
    );
  });
}
