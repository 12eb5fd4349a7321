// A connection to SQLite or PostgreSQL with the same interface and the same transactions.
import { chmodSync, closeSync, mkdirSync, openSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { checkNodeVersion } from "@sotto/protocol/node-version";
import { Kysely, sql } from "kysely";
import type { Connection, ConnectOptions } from "./connection.ts";
import { DatabaseError } from "./errors.ts";
import { connectPostgres } from "./postgres.ts";
import { logger } from "./query-log.ts";
import { NodeSqliteDialect } from "./sqlite-dialect.ts";

/** @throws DatabaseError INVALID_STORE_URL, STORE_UNAVAILABLE, NODE_TOO_OLD */
export async function connect<Schema>(options: ConnectOptions): Promise<Connection<Schema>> {
  const { url } = options;
  if (/^sqlite:./.test(url)) return connectSqlite(url.slice("sqlite:".length), options);
  if (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url)) return connectPostgres(options);
  throw new DatabaseError("INVALID_STORE_URL", "the store's URL must be sqlite:PATH or postgres://USER@HOST/DATABASE");
}

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
