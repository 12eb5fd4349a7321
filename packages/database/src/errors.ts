import { type ErrorDetails, SottoError } from "@sotto/protocol";

/** Codes of the database. Stable: callers switch on them. */
export type DatabaseErrorCode =
  /** The address is not `sqlite:` with a path or `postgres://`. */
  | "INVALID_STORE_URL"
  /** The database does not answer. */
  | "STORE_UNAVAILABLE"
  /** The database was written by a newer version of the program. */
  | "STORE_TOO_NEW";

export class DatabaseError extends SottoError {
  override readonly name = "DatabaseError";
  declare readonly code: DatabaseErrorCode;

  constructor(code: DatabaseErrorCode, message: string, details?: ErrorDetails, options?: { cause?: unknown }) {
    super(code, message, details, options);
  }
}

const NETWORK =
  /ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|Connection terminated|not queryable|timeout exceeded/i;

/** Whether an error says that the database cannot be reached or is shutting down, rather than that a query is wrong. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? String(error.code) : "";
  // PostgreSQL: class 08 connection, 57P01..57P03 shutting down or starting, 53 no resources. SQLite: busy, full, I/O.
  if (/^(08|57P0|53)/.test(code) || error.message === "database is not open") return true;
  if (code === "ERR_SQLITE_ERROR") return /locked|busy|full|disk I\/O|unable to open/i.test(error.message);
  return NETWORK.test(`${code} ${error.message}`) || (error.cause !== undefined && isUnavailable(error.cause));
}
