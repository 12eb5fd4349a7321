import { createErrorClass, SottoError } from "@sotto/protocol";
import type { DATABASE_ERRORS } from "./error-definitions.ts";

export type DatabaseErrorCode = keyof typeof DATABASE_ERRORS;

/** An error of the database. */
export const DatabaseError = /* @__PURE__ */ createErrorClass<typeof DATABASE_ERRORS>("DatabaseError");
export type DatabaseError = InstanceType<typeof DatabaseError>;

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
