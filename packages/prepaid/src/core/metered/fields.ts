import { assertObject, fail } from "@sotto/protocol/extend";

/**
 * The fields of a JSON object. The objects of metered credit are hashed or signed, so an unknown field is an error: a reader that
 * ignores it would agree to something else.
 * @throws SottoError INVALID_ARGUMENT if a field is missing, or if there is another one
 */
export function exactFields<Name extends string>(
  value: unknown,
  names: readonly Name[],
  what: string,
): Readonly<Record<Name, unknown>> {
  assertObject(value, what);
  const found = Object.keys(value as object);
  if (found.length !== names.length || !names.every((name) => Object.hasOwn(value as object, name)))
    fail("INVALID_ARGUMENT", `${what} must have exactly the fields ${names.join(", ")}`);
  return value as Record<Name, unknown>;
}

/** A list of `min` to `max` elements. The length is checked before any element is. @throws SottoError INVALID_ARGUMENT */
export function assertList(value: unknown, min: number, max: number, what: string): readonly unknown[] {
  if (!Array.isArray(value) || value.length < min || value.length > max)
    fail("INVALID_ARGUMENT", `${what} must be an array of ${min} to ${max}`);
  // A sparse array would skip its holes in later checks.
  return Array.from(value);
}
