import { assertAmount, assertObject, MAX_AMOUNT } from "../validate.ts";
import type { Mismatch } from "./mismatch.ts";
import type { RangeSignals } from "./signals.ts";

/** What an amount proof shows for a price, both in base units. */
export interface AmountBounds {
  readonly lowerBound: bigint;
  readonly upperBound: bigint;
}

/** The price, and a tenth more, rounded down; never above what a note can hold. Throws INVALID_AMOUNT. */
export function amountBounds(price: bigint): AmountBounds {
  const lowerBound = assertAmount(price, "price");
  const tenthMore = (lowerBound * 11n) / 10n;
  return { lowerBound, upperBound: tenthMore < MAX_AMOUNT ? tenthMore : MAX_AMOUNT };
}

/** Whether an amount proof is about exactly these bounds. */
export function checkBounds(range: RangeSignals, bounds: AmountBounds): Mismatch<"AMOUNT_BOUNDS"> | undefined {
  assertObject(range, "the amount proof's signals");
  assertObject(bounds, "the bounds");
  const { lowerBound, upperBound } = bounds;
  if (range.lowerBound === lowerBound && range.upperBound === upperBound) return undefined;
  const message = `the amount proof must show ${lowerBound} to ${upperBound} base units`;
  return { kind: "AMOUNT_BOUNDS", message };
}
