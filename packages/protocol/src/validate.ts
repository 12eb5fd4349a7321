import { describe, fail, type ProtocolErrorCode } from "./errors.ts";
import { BASE_FIELD_MODULUS, FIELD_MODULUS } from "./field.ts";

/** Maximum token amount of a note, in base units: the circuits range-check amounts to 64 bits. */
export const MAX_AMOUNT = (1n << 64n) - 1n;

function assertBigInt(value: unknown, bound: bigint, code: ProtocolErrorCode, name: string, expected: string): bigint {
  if (typeof value !== "bigint") fail(code, `${name} must be ${expected}, got ${describe(value)}`, { name });
  if (value < 0n || value >= bound) {
    const problem = value < 0n ? "a negative number" : "a larger number";
    fail(code, `${name} must be ${expected}, got ${problem}`, { name });
  }
  return value;
}

/**
 * Checks that a value is an object. This mainly catches forgotten arguments.
 * @throws SottoError INVALID_ARGUMENT
 */
export function assertObject(value: unknown, name: string): void {
  if (typeof value !== "object" || value === null)
    fail("INVALID_ARGUMENT", `${name} must be an object, got ${describe(value)}`, { name });
}

/** Checks `value` as a canonical field element: a bigint in [0, p). @throws SottoError INVALID_FIELD_ELEMENT */
export function assertField(value: unknown, name = "value"): bigint {
  return assertBigInt(value, FIELD_MODULUS, "INVALID_FIELD_ELEMENT", name, "a bigint from 0 to p - 1");
}

/** Checks `value` as a token amount: a bigint in [0, 2^64). @throws SottoError INVALID_AMOUNT */
export function assertAmount(value: unknown, name = "amount"): bigint {
  return assertBigInt(value, MAX_AMOUNT + 1n, "INVALID_AMOUNT", name, "a bigint from 0 to 2^64 - 1 base units");
}

/** Checks `value` as an unsigned integer of `bits` bits. @throws SottoError INVALID_INTEGER */
export function assertUint(value: unknown, bits: number, name = "value"): bigint {
  return assertBigInt(value, 1n << BigInt(bits), "INVALID_INTEGER", name, `a bigint from 0 to 2^${bits} - 1`);
}

/** Checks a safe integer in [min, max], given as a number. @throws SottoError INVALID_INTEGER */
export function assertInteger(value: unknown, min: number, max: number, name = "value"): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < min || value > max) {
    const got = typeof value === "number" ? String(value) : describe(value);
    fail("INVALID_INTEGER", `${name} must be an integer from ${min} to ${max}, got ${got}`, { name, min, max });
  }
  return value;
}

/** Checks an array of exactly `length` elements. */
export function assertArray(value: unknown, length: number, code: ProtocolErrorCode, name: string): readonly unknown[] {
  if (!Array.isArray(value) || value.length !== length)
    fail(code, `${name} must be an array of ${length}, got ${describe(value)}`, { name, length });
  return value;
}

/** Checks a non-empty, well-formed string: a lone surrogate has no UTF-8 encoding and would be hashed as another character. */
export function assertText(value: unknown, name = "value"): string {
  if (typeof value !== "string" || value === "")
    fail("INVALID_STRING", `${name} must be a non-empty string, got ${describe(value)}`, { name });
  // ES2023's types lack String.prototype.isWellFormed; encodeURIComponent throws for a lone surrogate.
  try {
    encodeURIComponent(value);
  } catch {
    fail("INVALID_STRING", `${name} must be well-formed Unicode, but contains a lone surrogate`, { name });
  }
  return value;
}

/** An integer on the wire: decimal digits without sign or leading zeros. */
export const CANONICAL_DECIMAL = /^(0|[1-9][0-9]*)$/;

function parseDecimalBelow(value: unknown, modulus: bigint, symbol: string, name: string): bigint {
  // Both moduli have 77 digits. The length is checked first, so that a megabyte of digits is rejected without parsing
  // it.
  const decimal =
    typeof value === "string" && value.length <= 77 && CANONICAL_DECIMAL.test(value) ? BigInt(value) : null;
  if (decimal === null || decimal >= modulus) {
    const expected = `a decimal string without sign or leading zeros, below ${symbol}`;
    fail("INVALID_FIELD_ELEMENT", `${name} must be ${expected}, got ${describe(value)}`, { name });
  }
  return decimal;
}

/**
 * Parses a field element from the wire: a canonical decimal string below p.
 * @throws SottoError INVALID_FIELD_ELEMENT
 */
export function parseField(value: unknown, name = "value"): bigint {
  return parseDecimalBelow(value, FIELD_MODULUS, "p, the order of BN254", name);
}

/**
 * Parses a coordinate of a proof point from the wire: below BN254's base field order q.
 * @throws SottoError INVALID_FIELD_ELEMENT
 */
export function parseBaseField(value: unknown, name = "value"): bigint {
  return parseDecimalBelow(value, BASE_FIELD_MODULUS, "q, the order of BN254's base field", name);
}

/**
 * Parses an amount in base units from the wire: a canonical decimal string below 2^64.
 * @throws SottoError INVALID_AMOUNT
 */
export function parseAmount(value: unknown, name = "amount"): bigint {
  if (typeof value !== "string" || value.length > 20 || !CANONICAL_DECIMAL.test(value)) {
    const expected = "a whole number of base units as a decimal string, at most 2^64 - 1";
    fail("INVALID_AMOUNT", `${name} must be ${expected}, got ${describe(value)}`, { name });
  }
  return assertAmount(BigInt(value), name);
}
