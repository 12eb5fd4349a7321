import { type ErrorDetails, SottoError } from "@sotto/protocol";

/** Codes of the store. Stable: callers and the HTTP layer switch on them. */
export type StoreErrorCode =
  /** The store's address is not `sqlite:` with a path or `postgres://`. */
  | "INVALID_STORE_URL"
  /** A record to be written is not what the store can keep; the message says which field. */
  | "INVALID_RECORD"
  /** The database does not answer. */
  | "STORE_UNAVAILABLE"
  /** The database was written by a newer version of the service. */
  | "STORE_TOO_NEW"
  /** Another replica has become the relayer: what was about to be written is its job now. */
  | "LEASE_LOST";

export class StoreError extends SottoError {
  override readonly name = "StoreError";
  declare readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, details?: ErrorDetails, options?: { cause?: unknown }) {
    super(code, message, details, options);
  }
}

const NETWORK = /ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|Connection terminated|timeout exceeded/i;

/** Whether an error says that the database cannot be reached or is shutting down, rather than that a query is wrong. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? String(error.code) : "";
  // PostgreSQL: class 08 connection, 57P01..57P03 shutting down or starting, 53 no resources. SQLite: busy, full, I/O.
  if (/^(08|57P0|53)/.test(code) || error.message === "database is not open") return true;
  if (code === "ERR_SQLITE_ERROR") return /locked|busy|full|disk I\/O|unable to open/i.test(error.message);
  return NETWORK.test(`${code} ${error.message}`) || (error.cause !== undefined && isUnavailable(error.cause));
}

export function expectRecord(condition: boolean, what: string, details: ErrorDetails = {}): void {
  if (!condition) throw new StoreError("INVALID_RECORD", what, details);
}
