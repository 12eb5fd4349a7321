// The responses that a paywall sends itself.

import { PREPAID_HEADER } from "@sotto/prepaid";
import { MAX_PROOF_HEADER_LENGTH } from "@sotto/protocol";
import { PAYWALL_ERRORS } from "../error-definitions.ts";
import type { Decision } from "./types.ts";

/** Lower case, as `PaywallRequest.header` expects. */
export const PROOF_HEADER = "x-payment-proof";

export type Refused = Extract<Decision, { kind: "refused" }>;

/** Lower case. */
export const TOKEN_HEADER = PREPAID_HEADER.toLowerCase();

/** Set on every response that concerns a payment, including paid ones. */
export const HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  vary: "X-Payment-Proof",
  "access-control-expose-headers": "WWW-Authenticate, Retry-After",
};

const refused = (status: Refused["status"], body: object, headers: Record<string, string> = {}): Refused => ({
  kind: "refused",
  status,
  headers: { ...HEADERS, ...headers },
  body,
});

const retry = (seconds: number | undefined): Record<string, string> =>
  seconds === undefined ? {} : { "retry-after": String(seconds) };

/** Row 1 of interface 4.6: the terms of payment. */
export const challenge = (instructions: object): Refused =>
  refused(402, instructions, { "www-authenticate": "x402-zk" });

/** Row 2: the header is not JSON. */
export const malformed = (message: string): Refused => refused(400, { error: "Invalid payment proof format", message });

/**
 * Row 3: a check failed, or could not be completed. The response does not say which one, because that would only help
 * attackers.
 *
 * @param retryAfter seconds after which the same header may pass
 */
export const invalid = (retryAfter?: number): Refused =>
  refused(402, { error: "Invalid payment proof", message: "ZK proof verification failed" }, retry(retryAfter));

/** Added to every response that concerns a payment if the paywall has prepaid tokens. */
export const PREPAID_VARY: Readonly<Record<string, string>> = { vary: PREPAID_HEADER };

/** Refuses a header that does not contain a prepaid token. */
export const malformedToken = (message: string): Refused =>
  refused(400, { error: "Invalid payment token format", message });

/** @param retryAfter seconds after which the same token may pass; undefined if it is refused for good */
export const refusedToken = (answer: Refused, retryAfter: number | undefined): Refused =>
  retryAfter === undefined ? answer : { ...answer, headers: { ...answer.headers, ...retry(retryAfter) } };

type PrepaidCode = Extract<keyof typeof PAYWALL_ERRORS, `PREPAID_${string}`>;
const TITLES = {
  400: "Bad Request",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  410: "Gone",
  503: "Service Unavailable",
} as const;

/** An error at the paths of prepaid tokens. @param retryAfter seconds */
export function prepaidError(code: PrepaidCode, message: string, retryAfter?: number): Refused {
  const { http = 503 } = PAYWALL_ERRORS[code] as { readonly http?: keyof typeof TITLES };
  return refused(http, { error: TITLES[http], message, code }, retry(retryAfter));
}

export const wrongMethod = (allow: string): Refused =>
  refused(405, { error: TITLES[405], message: `this path takes ${allow} only` }, { allow });

/** Keys or signatures. */
export const answered = (
  body: Uint8Array<ArrayBuffer>,
  contentType: string,
  headers: Readonly<Record<string, string>> = HEADERS,
): Extract<Decision, { kind: "answered" }> => ({
  kind: "answered",
  status: 200,
  headers: { ...headers, "content-type": contentType },
  body,
});

/** Two servers could route this target to different paths. */
export const badTarget = (): Refused =>
  refused(400, { error: "Bad Request", message: "the request target is not in its plain form" });

/** The proof for this target could exceed the header limit, so the paywall refuses it before the client pays. */
export const targetTooLong = (needed: number): Refused =>
  refused(400, {
    error: "Bad Request",
    message: `a payment proof for this request target takes up to ${needed} characters, but the header X-Payment-Proof has at most ${MAX_PROOF_HEADER_LENGTH}; shorten the target`,
  });

/** The paywall has not reached its chain yet, so it does not know the terms. */
export const opening = (): Refused =>
  refused(
    503,
    {
      error: "Service Unavailable",
      message: "this server is starting: it cannot take payments yet, because it has not reached its chain. Try again",
    },
    retry(5),
  );

/** Pause before a request is repeated while the server's clock is wrong, seconds. */
export const CLOCK_RETRY_SECONDS = 30;

/** The server's clock is wrong, so it would refuse the payment that it asks for. */
export const clockWrong = (): Refused =>
  refused(
    503,
    {
      error: "Service Unavailable",
      message: "this server's clock is wrong: it cannot take payments, because it would refuse them. Try again later",
    },
    retry(CLOCK_RETRY_SECONDS),
  );

/** The paywall failed before it checked any payment. */
export const unavailable = (): Refused =>
  refused(503, { error: "Service Unavailable", message: "payments cannot be taken at the moment" }, retry(5));

const LISTS = ["vary", "access-control-expose-headers"];
/** Headers that `onChallenge` must not set. */
const OWN = ["www-authenticate", "cache-control", "content-type", "content-length"];

/** Adds headers with lower-case names: joins the values of lists, and replaces other values. */
export function mergeHeaders(
  headers: Readonly<Record<string, string>>,
  more: Readonly<Record<string, string>>,
): Record<string, string> {
  const merged = { ...headers };
  for (const [name, value] of Object.entries(more)) {
    const before = LISTS.includes(name) ? merged[name] : undefined;
    merged[name] = before === undefined ? value : `${before}, ${value}`;
  }
  return merged;
}

/** @param page HTML that replaces the body, and its headers */
export const withPage = (answer: Refused, headers: Readonly<Record<string, string>>, page: string): Refused => ({
  ...answer,
  headers: { ...answer.headers, ...headers },
  page,
});

/**
 * Maximum size of the headers that `onChallenge` adds, bytes. By default nginx reads all headers of a response into a
 * buffer of 4 or 8 KiB and answers 502 if they do not fit. The other headers of a 402 take up to 960 bytes: those of the
 * paywall, with CORS headers of the maximum size, and those that Node and Express add.
 */
const MAX_ADDED_BYTES = 3_136;

const lineBytes = ([name, value]: readonly [string, string]): number => name.length + value.length + ": \r\n".length;

/**
 * Adds the headers of another payment format to a refusal.
 * @throws TypeError if one is invalid or reserved, or if they are too long
 */
export function withHeaders(answer: Refused, more: Record<string, string>): Refused {
  const bytes = Object.entries(more).reduce((sum, line) => sum + lineBytes(line), 0);
  if (bytes > MAX_ADDED_BYTES)
    throw new TypeError(
      `onChallenge returned headers of ${bytes} bytes, but at most ${MAX_ADDED_BYTES} fit into the headers of a 402`,
    );
  let { headers } = answer;
  for (const [name, value] of Object.entries(more)) {
    const key = name.toLowerCase();
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(key) || !/^[\t -~]*$/.test(value) || OWN.includes(key))
      throw new TypeError(`onChallenge returned the header ${key}, which is invalid or reserved for the paywall`);
    headers = mergeHeaders(headers, { [key]: value });
  }
  return { ...answer, headers };
}
