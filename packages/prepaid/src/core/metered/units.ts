import { assertObject, describe, fail, parseAmount } from "@sotto/protocol/extend";

/** Maximum number of units that one rule prices. */
export const MAX_METERED_UNITS = 32;

/** Lower case and underscores, and no name that every JavaScript object has. */
const NAME = /^(?!constructor$|prototype$)[a-z][a-z0-9_]{0,31}$/;
const MAX_COUNT = (1n << 64n) - 1n;

/** How many units of each name a request used, such as `{ input: 120n, output: 450n }`. */
export type UnitCounts = Readonly<Record<string, bigint>>;

/**
 * Checks the name of a unit: 1 to 32 lower-case letters, digits and underscores, which begin with a letter.
 * @throws SottoError INVALID_STRING
 */
export function assertUnitName(name: unknown): string {
  if (typeof name !== "string" || !NAME.test(name))
    fail(
      "INVALID_STRING",
      `the name of a unit must be 1 to 32 lower-case letters, digits and underscores such as output, got ${describe(name)}`,
    );
  return name;
}

function assertCount(count: unknown, name: string): bigint {
  const whole = typeof count === "number" && Number.isSafeInteger(count) ? BigInt(count) : count;
  if (typeof whole !== "bigint" || whole < 0n || whole > MAX_COUNT) {
    const got = typeof count === "number" || typeof count === "bigint" ? String(count) : describe(count);
    fail("INVALID_INTEGER", `the count of ${name} must be an integer from 0 to 2^64 - 1, got ${got}`, { name });
  }
  return whole;
}

/** The counts in their only form: sorted by name, without zeros, frozen. */
function canonical(entries: readonly (readonly [string, bigint])[]): UnitCounts {
  const counted = entries.filter(([, count]) => count > 0n);
  counted.sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.freeze(Object.fromEntries(counted));
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  assertObject(value, "the counts of units");
  const entries = Object.entries(value as object);
  if (Array.isArray(value) || entries.length > MAX_METERED_UNITS)
    fail("INVALID_ARGUMENT", `the counts of units must be an object with at most ${MAX_METERED_UNITS} names`);
  return entries.map(([name, count]) => [assertUnitName(name), count]);
}

/**
 * Checks counts of units: integers from 0 to 2^64 - 1, given as bigints or as numbers up to 2^53 - 1.
 * @returns the counts as bigints, sorted by name, without zeros, frozen
 * @throws SottoError INVALID_ARGUMENT, INVALID_STRING (a name), INVALID_INTEGER (NaN, a fraction, a negative or too large count)
 */
export const assertUnitCounts = (value: unknown): UnitCounts =>
  canonical(entriesOf(value).map(([name, count]) => [name, assertCount(count, name)]));

/** Counts for JSON: decimal texts, sorted by name, without zeros. @throws the errors of {@link assertUnitCounts} */
export const encodeUnitCounts = (counts: UnitCounts): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(assertUnitCounts(counts)).map(([name, count]) => [name, String(count)]));

/**
 * Inverse of {@link encodeUnitCounts}, in any order of names.
 * @throws SottoError INVALID_ARGUMENT, INVALID_STRING, INVALID_AMOUNT
 */
export function decodeUnitCounts(wire: unknown): UnitCounts {
  const counts = entriesOf(wire).map(([name, count]) => [name, parseAmount(count, `the count of ${name}`)] as const);
  if (counts.some(([, count]) => count === 0n)) fail("INVALID_ARGUMENT", "counts of 0 must be left out");
  return canonical(counts);
}
