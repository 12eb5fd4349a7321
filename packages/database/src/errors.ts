import { type ErrorDetails, SottoError } from "@sotto/protocol";

/** Codes of the database. Stable: callers switch on them. */
export type DatabaseErrorCode =
  /** The address is not `sqlite:` with a path or `postgres://`. */
  | "INVALID_STORE_URL"
  /** The database does not answer. */
  | "STORE_UNAVAILABLE"
  /** The database was written by a newer version of the program. */
  | "STORE_TOO_NEW"
  /** This Node has no SQLite. */
  | "NODE_TOO_OLD";

export class DatabaseError extends SottoError {
  override readonly name = "DatabaseError";
  declare readonly code: DatabaseErrorCode;

  constructor(code: DatabaseErrorCode, message: string, details?: ErrorDetails, options?: { cause?: unknown }) {
    super(code, message, details, options);
  }
}

const NETWORK =
  /ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|Connection terminated|not queryable|timeout exceeded|read timeout/i;
/**
 * PostgreSQL: class 08 connection, 57P0 shutting down or starting, 57014 and 25P03 out of time, 53 no resources, 25006 a
 * standby since a failover, 55P03 and class 40 a lock or a turn lost to another.
 */
const POSTGRES = /^(08|57P0|57014|53|25006|25P03|55P03|40)/;
const SQLITE = /locked|busy|full|disk I\/O|unable to open|readonly/i;

/** Whether an error says that the database cannot answer now, rather than that a query is wrong. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // Of a driver's errors alone: another part of ours (the node, say) may also say that its network failed.
  if (error instanceof SottoError) return error.code === "STORE_UNAVAILABLE";
  const code = "code" in error ? String(error.code) : "";
  if (POSTGRES.test(code) || error.message === "database is not open") return true;
  if (code === "ERR_SQLITE_ERROR") return SQLITE.test(error.message);
  return NETWORK.test(`${code} ${error.message}`) || (error.cause !== undefined && isUnavailable(error.cause));
}
