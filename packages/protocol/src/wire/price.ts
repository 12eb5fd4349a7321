import { formatDecimalAmount } from "../decimal.ts";
import { fail } from "../errors.ts";

/** A finite number in decimal notation, without an exponent: 1e-7 becomes 0.0000001. */
function plainDigits(value: number): string {
  const [mantissa = "", exponent = "0"] = String(value).split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const shift = Number(exponent);
  if (shift >= 0) {
    const digits = fraction.padEnd(shift, "0");
    const rest = digits.slice(shift);
    return whole + digits.slice(0, shift) + (rest === "" ? "" : `.${rest}`);
  }
  const digits = whole.padStart(1 - shift, "0") + fraction;
  const point = digits.length - fraction.length + shift;
  return `${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** Whether a JSON number equals exactly this many base units. */
export function isPrice(value: unknown, baseUnits: bigint, decimals: number): value is number {
  if (typeof value !== "number" || value <= 0) return false;
  return plainDigits(value) === formatDecimalAmount(baseUnits, decimals);
}

/**
 * The JSON number of a price.
 * @throws SottoError INVALID_AMOUNT if the price is 0 or no JSON number equals it exactly (beyond about 15 digits)
 */
export function priceNumber(baseUnits: bigint, decimals: number): number {
  const value = Number(formatDecimalAmount(baseUnits, decimals));
  if (!isPrice(value, baseUnits, decimals))
    fail("INVALID_AMOUNT", `a price must be above 0 and exact as a JSON number, got ${baseUnits} base units`);
  return value;
}
