import { assertTimestamp } from "../contexts.ts";
import { fail } from "../errors.ts";
import type { Mismatch } from "./mismatch.ts";

/** How old a payment may be, ms. */
export const MAX_PAYMENT_AGE_MS = 300_000;
/** How far a payer's clock may be ahead, ms. */
export const MAX_CLOCK_SKEW_MS = 30_000;

/** A timestamp outside of the time in which a payment is accepted. */
export interface StaleTimestamp extends Mismatch<"TOO_OLD" | "FROM_THE_FUTURE"> {
  /** How old the payment is, or how far ahead, ms. */
  readonly distanceMs: number;
  /** How old or far ahead it may be, ms. */
  readonly limitMs: number;
}

/**
 * Whether a payment is accepted at this time.
 *
 * @param timestamp of the payment, ms
 * @param now ms
 * @param maxAgeMs how old it may be, if that is less than MAX_PAYMENT_AGE_MS
 */
export function checkFreshness(
  timestamp: number,
  now: number,
  maxAgeMs: number = MAX_PAYMENT_AGE_MS,
): StaleTimestamp | undefined {
  assertTimestamp(timestamp);
  for (const value of [now, maxAgeMs])
    if (typeof value !== "number") fail("INVALID_INTEGER", "a time in ms was expected");
  const age = now - timestamp;
  const limitMs = Math.min(maxAgeMs, MAX_PAYMENT_AGE_MS);
  if (age > limitMs) {
    const message = `timestamp is ${age} ms old, at most ${limitMs} are allowed`;
    return { kind: "TOO_OLD", message, distanceMs: age, limitMs };
  }
  if (age < -MAX_CLOCK_SKEW_MS) {
    const message = `timestamp is ${-age} ms ahead, at most ${MAX_CLOCK_SKEW_MS} are allowed`;
    return { kind: "FROM_THE_FUTURE", message, distanceMs: -age, limitMs: MAX_CLOCK_SKEW_MS };
  }
  return undefined;
}
