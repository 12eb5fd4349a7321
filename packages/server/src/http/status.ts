/** Error codes with their HTTP statuses. */
export type StatusTable = Readonly<Record<string, number>>;

/** The statuses of the codes that every server has; a server adds those of its own. */
export const SERVER_STATUS = {
  // The body or its encoding
  INVALID_REQUEST: 400,
  INVALID_JSON: 400,
  DUPLICATE_KEY: 400,
  FORBIDDEN_KEY: 400,
  NESTED_TOO_DEEPLY: 400,
  BODY_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  HEADERS_TOO_LARGE: 431,
  REQUEST_TIMEOUT: 408,
  // Where and how
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  // Limits
  RATE_LIMITED: 429,
  OVERLOADED: 503,
  SHUTTING_DOWN: 503,
  INTERNAL: 500,
} as const satisfies StatusTable;

/** Statuses that ask the client to come back; seconds for Retry-After. */
export const RETRY_AFTER_SECONDS: Readonly<Record<number, number>> = { 503: 5 };

/** A code that is not in the table is a fault of the server: 500. */
export function statusOf(table: StatusTable, code: string): number {
  return Object.hasOwn(table, code) ? table[code]! : 500;
}
