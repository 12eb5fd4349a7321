import { assertAmount, assertObject, MAX_AMOUNT } from "../validate.ts";
import type { Mismatch } from "./mismatch.ts";
import type { RangeSignals } from "./signals.ts";

/** The bounds that an amount proof must state for a price, both inclusive, base units. */
export interface AmountBounds {
  /** The price, 0 to 2^64 - 1 base units. */
  readonly lowerBound: bigint;
  /** floor(1.1 times the price), at most 2^64 - 1 base units. */
  readonly upperBound: bigint;
}

/**
 * The bounds of a price: the price itself, and the price plus a tenth, rounded down and at most MAX_AMOUNT.
 * @throws SottoError INVALID_AMOUNT
 */
export function amountBounds(price: bigint): AmountBounds {
  const lowerBound = assertAmount(price, "price");
  const tenthMore = (lowerBound * 11n) / 10n;
  return { lowerBound, upperBound: tenthMore < MAX_AMOUNT ? tenthMore : MAX_AMOUNT };
}

/** Checks that an amount proof states exactly these bounds. */
export function checkBounds(range: RangeSignals, bounds: AmountBounds): Mismatch<"AMOUNT_BOUNDS"> | undefined {
  assertObject(range, "the amount proof's signals");
  assertObject(bounds, "the bounds");
  const { lowerBound, upperBound } = bounds;
  if (range.lowerBound === lowerBound && range.upperBound === upperBound) return undefined;
  const message = `the amount proof must show ${lowerBound} to ${upperBound} base units`;
  return { kind: "AMOUNT_BOUNDS", message };
}
