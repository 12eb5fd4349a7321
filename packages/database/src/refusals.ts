// Names what a PostgreSQL server or a pooler refuses: only the operator can change it, and waiting does not help.
import { DatabaseError } from "./errors.ts";

type Refusal = "STORE_NOT_FOUND" | "STORE_ACCESS_DENIED" | "STORE_TLS_FAILED" | "STORE_PARAMETER_REFUSED";

const ADVICE: Readonly<Record<Refusal, string>> = {
  STORE_NOT_FOUND: "create the database, or correct its name in the store's URL",
  STORE_ACCESS_DENIED: "correct user and password in the store's URL, or the role's rights",
  STORE_TLS_FAILED:
    "sslmode=verify-full in the store's URL requires TLS, sslrootcert names the CA, and sslmode=disable uses none",
  STORE_PARAMETER_REFUSED: "remove the parameter from the store's URL",
};

/** The first that matches counts: a missing entry in pg_hba.conf for connections without TLS has the code of a refused user. */
const PATTERNS: readonly (readonly [code: Refusal, pattern: RegExp])[] = [
  ["STORE_TLS_FAILED", /SSL required|no encryption|SSL off|does not support SSL|received invalid response: /i],
  ["STORE_TLS_FAILED", /^(SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_|CERT_|ERR_TLS_|ERR_SSL_)/],
  ["STORE_PARAMETER_REFUSED", /unsupported startup parameter|unrecognized configuration parameter/i],
  ["STORE_NOT_FOUND", /^3D000 |no such database/i],
  ["STORE_ACCESS_DENIED", /^(28|42501 )|authentication failed|no such user|password must be a/i],
];

const MAX_QUOTED = 200;

/** The error with which the database should be reported. Undefined: it is neither unavailable nor refuses the program. */
export function nameRefusal(cause: unknown): DatabaseError | undefined {
  if (!(cause instanceof Error) || cause instanceof DatabaseError) return undefined;
  const text = `${"code" in cause ? String(cause.code) : ""} ${cause.message}`;
  const [code] = PATTERNS.find(([, pattern]) => pattern.test(text)) ?? [];
  if (code === undefined) return undefined;
  return new DatabaseError(
    code,
    `the database refuses the connection: ${cause.message.slice(0, MAX_QUOTED)}; ${ADVICE[code]}`,
    {},
    { cause },
  );
}
