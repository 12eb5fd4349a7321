import { type Migrations, openDatabase, type Database as SharedDatabase } from "@sotto/database";
import { MIGRATIONS } from "./migrations.ts";
import type { Schema } from "./schema.ts";

export type Database = SharedDatabase<Schema>;

export interface DatabaseOptions {
  /** `sqlite:PATH` (created if it does not exist), `sqlite::memory:`, or `postgres://..`. */
  url: string;
  /** Connections to PostgreSQL; default 10. */
  poolSize?: number | undefined;
  extensions?: Migrations | undefined;
  /** Called when an idle connection is lost; the pool opens another. */
  onError?: ((error: Error) => void) | undefined;
}

/** @throws DatabaseError INVALID_STORE_URL, STORE_UNAVAILABLE, STORE_TOO_NEW */
export const open = ({ extensions, ...options }: DatabaseOptions): Promise<Database> =>
  openDatabase<Schema>({ ...options, name: "service", migrations: { ...MIGRATIONS, ...extensions } });
