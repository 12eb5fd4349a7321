import { type ErrorTable, SHARED_ERRORS } from "@sotto/protocol";

/** The errors of this package. */
export const DATABASE_ERRORS = {
  INVALID_STORE_URL: {
    means: "The address of the database is not `sqlite:` with a path or `postgres://`.",
    cause: "The setting names another database, or a path without `sqlite:`.",
  },
  STORE_UNAVAILABLE: {
    means: "The database does not answer. Try again.",
    cause: "The database is down or restarting, refuses the password, or another process holds its lock for too long.",
    http: 503,
  },
  STORE_TOO_NEW: {
    means: "A newer version of the program wrote the database.",
    cause: "A newer release ran with this database, and an older one was started afterwards.",
  },
  NODE_TOO_OLD: SHARED_ERRORS.NODE_TOO_OLD,
} satisfies ErrorTable;
