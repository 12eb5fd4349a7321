// The errors at the paths of prepaid tokens.

import { Refusal, type Refused, refused } from "@sotto/resource-server";
import { PREPAID_SERVER_ERRORS } from "./error-definitions.ts";

type PrepaidCode = keyof typeof PREPAID_SERVER_ERRORS;
const TITLES = {
  400: "Bad Request",
  403: "Forbidden",
  404: "Not Found",
  409: "Conflict",
  410: "Gone",
  503: "Service Unavailable",
} as const;

/** @param retryAfter seconds */
export function prepaidError(code: PrepaidCode, message: string, retryAfter?: number): Refused {
  const { http = 503 } = PREPAID_SERVER_ERRORS[code] as { readonly http?: keyof typeof TITLES };
  return refused(
    http,
    { error: TITLES[http], message, code },
    retryAfter === undefined ? {} : { "retry-after": String(retryAfter) },
  );
}

/** @throws Refusal with this response */
export function refuse(...error: Parameters<typeof prepaidError>): never {
  throw new Refusal(prepaidError(...error));
}
