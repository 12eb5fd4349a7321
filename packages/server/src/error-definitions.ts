import { type ErrorTable, SHARED_ERRORS } from "@sotto/protocol";

/** The errors that all of sotto's servers share. */
export const SERVER_ERRORS = {
  INVALID_REQUEST: {
    means: "A field is missing, or has the wrong type or size, or the bytes are not an HTTP request.",
    cause: "The client has another version or a faulty integration, or does not speak HTTP.",
    http: 400,
  },
  INVALID_JSON: {
    means: "The body is empty or not JSON.",
    cause: "The client sent a form, text or nothing, or the body was cut off.",
    http: 400,
  },
  DUPLICATE_KEY: {
    means: "An object of the body has the same key twice.",
    cause: "A program joins JSON texts by hand, or someone sends input that two parsers read differently.",
    http: 400,
  },
  FORBIDDEN_KEY: {
    means: "The body has a key `__proto__`, `constructor` or `prototype`.",
    cause: "Someone tests the server for prototype pollution.",
    http: 400,
  },
  NESTED_TOO_DEEPLY: {
    means: "The body has more than 24 levels.",
    cause: "Someone tests the server's limits: no request of sotto is that deep.",
    http: 400,
  },
  NOT_FOUND: {
    means: "There is no route at this path.",
    cause: "The URL lacks the `/zk` of the service or has a typo, or the route is disabled.",
    http: 404,
  },
  METHOD_NOT_ALLOWED: {
    means: "The path has routes for other methods only. The header `allow` lists them.",
    cause: "A GET was sent where POST is expected, or the other way round.",
    http: 405,
  },
  REQUEST_TIMEOUT: {
    means: "The request did not arrive within 20 s.",
    cause: "The connection is slow or broken, or the client announces a longer body than it sends.",
    http: 408,
  },
  BODY_TOO_LARGE: SHARED_ERRORS.BODY_TOO_LARGE,
  UNSUPPORTED_MEDIA_TYPE: {
    means: "The body is not `application/json` in UTF-8, or it is compressed.",
    cause: "The client does not set `content-type`, or a proxy compresses bodies.",
    http: 415,
  },
  RATE_LIMITED: {
    means:
      "Too many requests from one address or network. The message names the limit; `retry-after` says when to retry.",
    cause: "A program repeats requests in a loop, or many users share one address.",
    http: 429,
  },
  HEADERS_TOO_LARGE: {
    means: "The headers are too large.",
    cause: "The client sends large cookies or tokens, or a proxy adds headers.",
    http: 431,
  },
  INTERNAL: {
    means: "The service failed. Its log entry has the request's id.",
    cause: "The program has a bug, or its machine or configuration is faulty.",
    http: 500,
  },
  OVERLOADED: {
    means: "The service is overloaded. Try again.",
    cause: "More requests arrive than this machine can handle.",
    http: 503,
  },
  SHUTTING_DOWN: {
    means: "The service is shutting down. Try again.",
    cause: "The operator restarts or updates the service.",
    http: 503,
  },
  INVALID_CONFIG: {
    means: "A setting is missing or malformed. The message names each one.",
    cause: "The environment lacks a variable, or a value has a typo or another unit.",
  },
  PORT_UNAVAILABLE: {
    means: "The server cannot listen on its port.",
    cause: "Another process listens on the port, or this user may not open it.",
  },
} satisfies ErrorTable;
