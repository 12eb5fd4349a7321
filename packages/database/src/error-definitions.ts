import { type ErrorTable, SHARED_ERRORS } from "@sotto/protocol";

/** The errors of this package. */
export const DATABASE_ERRORS = {
  INVALID_STORE_URL: {
    means: "The address of the database is not `sqlite:` with a path or `postgres://`.",
    cause:
      "The setting names another database, a path without `sqlite:`, or has a parameter without effect, such as `schema`.",
  },
  STORE_UNAVAILABLE: {
    means: "The database does not answer. Try again.",
    cause: "The database is down or restarting, or another process holds its lock for too long.",
    http: 503,
  },
  STORE_NOT_FOUND: {
    means: "The database does not exist on its server.",
    cause: "The URL names another database, or it was not created.",
  },
  STORE_ACCESS_DENIED: {
    means: "The database refuses the user, the password, or the creation of tables.",
    cause: "The password was changed, the role does not exist, or it has no rights on the schema.",
  },
  STORE_TLS_FAILED: {
    means: "Database and URL do not agree on TLS.",
    cause: "The server requires TLS and the URL does not, the server offers none, or its certificate is not trusted.",
  },
  STORE_PARAMETER_REFUSED: {
    means: "The database, or the pooler in front of it, refuses a parameter of the connection.",
    cause: "The URL has `options`, which pgbouncer refuses.",
  },
  STORE_TOO_NEW: {
    means: "The database has migrations that the program lacks. The message names them.",
    cause: "A newer release ran with this database, or one with an extension that the program does not have.",
  },
  LEASE_LOST: {
    means: "Another replica leads now, so this one wrote nothing.",
    cause: "The process was suspended, or could not reach the database for longer than its lease.",
  },
  NODE_TOO_OLD: SHARED_ERRORS.NODE_TOO_OLD,
} satisfies ErrorTable;
