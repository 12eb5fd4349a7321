import { assertTimestamp } from "../contexts.ts";
import { describe, fail } from "../errors.ts";
import type { Mismatch } from "./mismatch.ts";

/** Maximum age of a payment, ms. */
export const MAX_PAYMENT_AGE_MS = 300_000;
/** Maximum time by which the payer's clock may be ahead, ms. */
export const MAX_CLOCK_SKEW_MS = 30_000;

/** A timestamp that is too old or too far in the future. */
export interface StaleTimestamp extends Mismatch<"TOO_OLD" | "FROM_THE_FUTURE"> {
  /** The payment's age, or how far it is in the future, ms. */
  readonly distanceMs: number;
  /** The limit that was exceeded, ms. */
  readonly limitMs: number;
}

/**
 * Checks that a payment is neither too old nor too far in the future.
 * @param timestamp the timestamp of the payment, ms
 * @param now ms
 * @param maxAgeMs maximum age, ms; a value above MAX_PAYMENT_AGE_MS has no effect
 */
export function checkFreshness(
  timestamp: number,
  now: number,
  maxAgeMs: number = MAX_PAYMENT_AGE_MS,
): StaleTimestamp | undefined {
  assertTimestamp(timestamp);
  for (const value of [now, maxAgeMs])
    if (typeof value !== "number")
      fail("INVALID_INTEGER", `now and maxAgeMs must be numbers of ms, got ${describe(value)}`);
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
