// The responses that a paywall sends itself.
import { MAX_PROOF_HEADER_LENGTH } from "@sotto/protocol";
import type { Decision } from "./types.ts";

/** Lower case, as `PaywallRequest.header` expects. */
export const PROOF_HEADER = "x-payment-proof";

/** The decision not to serve a request, with the response. */
export type Refused = Extract<Decision, { kind: "refused" }>;

/** Set on every response that concerns a payment, including paid ones. */
export const HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  vary: "X-Payment-Proof",
  "access-control-expose-headers": "WWW-Authenticate, Retry-After",
};

/** A refusal that no cache stores. @param body JSON */
export const refused = (
  status: Refused["status"],
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Refused => ({ kind: "refused", status, headers: { ...HEADERS, ...headers }, body });

/** A method that a path does not take. @param allow the methods that it takes, as in the header Allow */
export const wrongMethod = (allow: string): Refused =>
  refused(405, { error: "Method Not Allowed", message: `this path takes ${allow} only` }, { allow });

/** The header that asks to try again. @param seconds undefined for no header */
export const retry = (seconds: number | undefined): Record<string, string> =>
  seconds === undefined ? {} : { "retry-after": String(seconds) };

/** Row 1 of interface 4.6: the terms of payment. */
export const challenge = (body: object): Refused => refused(402, body);

/** Row 2: the header is not JSON. */
export const malformed = (message: string): Refused => refused(400, { error: "Invalid payment proof format", message });

/**
 * Row 3: a check failed, or could not be completed. The response does not say which one, because that would only help
 * attackers.
 * @param retryAfter seconds after which the same header may pass
 */
export const invalid = (retryAfter?: number): Refused =>
  refused(402, { error: "Invalid payment proof", message: "ZK proof verification failed" }, retry(retryAfter));

/** A response instead of the one that was asked for. Throw it where a function cannot return a decision. */
export class Refusal extends Error {
  /** The response. */
  readonly answer: Refused;

  constructor(answer: Refused) {
    super("refused");
    this.answer = answer;
  }
}

/** Content of a method. @param headers default: those of a response that no cache stores */
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

const LISTS = ["vary", "access-control-expose-headers", "www-authenticate"];

/** Adds headers with lower-case names: joins the values of lists, and replaces other values. */
export function mergeHeaders(
  headers: Readonly<Record<string, string>>,
  more: Readonly<Record<string, string>>,
): Record<string, string> {
  const merged = { ...headers };
  for (const [name, value] of Object.entries(more)) {
    const before = LISTS.includes(name) ? merged[name] : undefined;
    merged[name] = before === undefined || before === "" ? value : `${before}, ${value}`;
  }
  return merged;
}

/** Whether a response is a 402. */
export const isPaymentRequired = (decision: Decision): decision is Refused =>
  decision.kind === "refused" && decision.status === 402;

/** @param page HTML that replaces the body, and its headers */
export const withPage = (answer: Refused, headers: Readonly<Record<string, string>>, page: string): Refused => ({
  ...answer,
  headers: { ...answer.headers, ...headers },
  page,
});
