import { type ErrorTable, SHARED_ERRORS } from "@sotto/protocol";

/** The errors of this package. */
export const DATABASE_ERRORS = {
  INVALID_STORE_URL: { means: "The address of the database is not `sqlite:` with a path or `postgres://`." },
  STORE_UNAVAILABLE: { means: "The database does not answer. Try again.", http: 503 },
  STORE_TOO_NEW: { means: "A newer version of the program wrote the database." },
  NODE_TOO_OLD: SHARED_ERRORS.NODE_TOO_OLD,
} satisfies ErrorTable;
