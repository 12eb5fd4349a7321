import { type ErrorTable, SHARED_ERRORS } from "@sotto/protocol";

/** The errors that all of sotto's servers share. */
export const SERVER_ERRORS = {
  INVALID_REQUEST: {
    means: "A field is missing, or has the wrong type or size, or the bytes are not an HTTP request.",
    http: 400,
  },
  INVALID_JSON: { means: "The body is empty or not JSON.", http: 400 },
  DUPLICATE_KEY: { means: "An object of the body has the same key twice.", http: 400 },
  FORBIDDEN_KEY: { means: "The body has a key `__proto__`, `constructor` or `prototype`.", http: 400 },
  NESTED_TOO_DEEPLY: { means: "The body has more than 24 levels.", http: 400 },
  NOT_FOUND: { means: "There is no route at this path.", http: 404 },
  METHOD_NOT_ALLOWED: {
    means: "The path has routes for other methods only. The header `allow` lists them.",
    http: 405,
  },
  REQUEST_TIMEOUT: { means: "The request did not arrive within 20 s.", http: 408 },
  BODY_TOO_LARGE: SHARED_ERRORS.BODY_TOO_LARGE,
  UNSUPPORTED_MEDIA_TYPE: { means: "The body is not `application/json` in UTF-8, or it is compressed.", http: 415 },
  RATE_LIMITED: {
    means:
      "Too many requests from one address or network. The message names the limit; `retry-after` says when to retry.",
    http: 429,
  },
  HEADERS_TOO_LARGE: { means: "The headers are too large.", http: 431 },
  INTERNAL: { means: "The service failed. Its log entry has the request's id.", http: 500 },
  OVERLOADED: { means: "The service is overloaded. Try again.", http: 503 },
  SHUTTING_DOWN: { means: "The service is shutting down. Try again.", http: 503 },
  INVALID_CONFIG: { means: "A setting is missing or malformed. The message names each one." },
  PORT_UNAVAILABLE: { means: "The server cannot listen on its port." },
} satisfies ErrorTable;
