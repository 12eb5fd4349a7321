import { assertAmount } from "@sotto/protocol";
import { fail } from "@sotto/protocol/extend";

/** Maximum number of values in one schedule. */
export const MAX_PREPAID_VALUES = 12;

/** Whether an amount is on the grid of prepaid values: 1, 2 or 5 times a power of ten, in base units. */
export function isPrepaidValue(amount: bigint): boolean {
  const digits = assertAmount(amount, "value").toString();
  return /^[125]0*$/.test(digits);
}

/**
 * Checks the value of a prepaid token. Few values are allowed, so that a price reveals little about its payer.
 * @returns the value, in base units
 * @throws SottoError INVALID_AMOUNT
 */
export function assertPrepaidValue(value: unknown): bigint {
  const amount = assertAmount(value, "value");
  if (!isPrepaidValue(amount)) fail("INVALID_AMOUNT", "a prepaid value must be 1, 2 or 5 times a power of ten");
  return amount;
}
