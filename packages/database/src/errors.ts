import { createErrorClass, SottoError } from "@sotto/protocol";
import type { DATABASE_ERRORS } from "./error-definitions.ts";

/** The codes of a {@link DatabaseError}. */
export type DatabaseErrorCode = keyof typeof DATABASE_ERRORS;

/** An error of the database. */
export const DatabaseError = /* @__PURE__ */ createErrorClass<typeof DATABASE_ERRORS>("DatabaseError");
export type DatabaseError = InstanceType<typeof DatabaseError>;

const NETWORK =
  /ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|Connection terminated|not queryable|timeout exceeded|read timeout/i;
/**
 * PostgreSQL: class 08 connection, 57P0 shutdown or start, 57014 and 25P03 timeout, 53 no resources, 25006 a standby after a
 * failover, 55P03 lock not available, class 40 serialization failure or deadlock, class 28 and 3D000 refused connection.
 */
const POSTGRES = /^(08|28|3D000|57P0|57014|53|25006|25P03|55P03|40)/;
/** pg has no code for these refusals. */
const REFUSED = /does not support SSL|^SASL: /;
/** Codes of this package for a database that does not answer, or refuses the program. */
const OWN = [
  "STORE_UNAVAILABLE",
  "STORE_NOT_FOUND",
  "STORE_ACCESS_DENIED",
  "STORE_TLS_FAILED",
  "STORE_PARAMETER_REFUSED",
];
const SQLITE = /locked|busy|full|disk I\/O|unable to open|readonly/i;

/** Whether an error means that the database is unavailable, rather than that a query is wrong. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // The patterns below match drivers' errors. One of our own errors may also mention the network (to a node, for
  // example).
  if (error instanceof SottoError) return OWN.includes(error.code);
  const code = "code" in error ? String(error.code) : "";
  if (POSTGRES.test(code) || error.message === "database is not open" || REFUSED.test(error.message)) return true;
  if (code === "ERR_SQLITE_ERROR") return SQLITE.test(error.message);
  return NETWORK.test(`${code} ${error.message}`) || (error.cause !== undefined && isUnavailable(error.cause));
}
