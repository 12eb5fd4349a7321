import { describe, fail } from "./errors.ts";
import { assertAmount, assertInteger } from "./validate.ts";

/**
 * Parses a decimal amount into exact base units, e.g. ("1.25", 6) into 1250000n. Never uses floating point.
 * @param text digits, with at most one point between digits; no sign, exponent or grouping
 * @param decimals the token's decimals, 0 to 77
 * @throws SottoError INVALID_AMOUNT if the text is malformed, has a fraction of a base unit, or exceeds 2^64 - 1 base units
 */
export function parseDecimalAmount(text: string, decimals: number): bigint {
  assertInteger(decimals, 0, 77, "decimals");
  const match = typeof text === "string" && text.length <= 128 ? /^([0-9]+)(?:\.([0-9]+))?$/.exec(text) : null;
  if (match === null)
    fail("INVALID_AMOUNT", `amount must be a decimal such as 1.25, without a sign, got ${describe(text)}`);
  const fraction = (match[2] ?? "").replace(/0+$/, "");
  if (fraction.length > decimals)
    fail("INVALID_AMOUNT", `amount has ${fraction.length} decimals, but the token has ${decimals}`, { decimals });
  return assertAmount(BigInt(match[1]! + fraction.padEnd(decimals, "0")));
}

/**
 * The shortest decimal text of an amount in base units; inverse of `parseDecimalAmount`. A sum may exceed the largest amount,
 * for example a balance of several notes.
 * @throws SottoError INVALID_AMOUNT if it is negative or exceeds 2^256 - 1 base units
 */
export function formatDecimalAmount(amount: bigint, decimals: number): string {
  assertInteger(decimals, 0, 77, "decimals");
  if (typeof amount !== "bigint" || amount < 0n || amount >> 256n > 0n)
    fail("INVALID_AMOUNT", `amount must be a bigint from 0 to 2^256 - 1, got ${describe(amount)}`);
  const digits = amount.toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  return fraction === "" ? whole : `${whole}.${fraction}`;
}
