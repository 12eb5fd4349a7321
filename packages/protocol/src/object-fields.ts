// Reads the fields of parsed JSON: checks their types and formats, and names the field in the error.
import { describe, fail, type ProtocolErrorCode } from "./errors.ts";

/** Maximum length of a resourceUrl on the wire, characters. */
export const MAX_URL_LENGTH = 2048;

/** Keys that have a special meaning in JavaScript objects. No JSON that is read needs them. */
export const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** Reads a field of a JSON object. Ignores inherited properties, because they were not part of the JSON. */
export type Fields = (name: string) => unknown;

/** The fields of a JSON object. @throws SottoError `code` if `value` is not a JSON object */
export function fieldsOf(value: unknown, name: string, code: ProtocolErrorCode): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    fail(code, `${name} must be an object, got ${describe(value)}`);
  return (field) => (Object.hasOwn(value, field) ? (value as Record<string, unknown>)[field] : undefined);
}

/**
 * Checks an absolute http(s) URL. It stays an opaque string: compared byte for byte, never normalised.
 * @throws SottoError INVALID_STRING
 */
export function parseHttpUrl(value: unknown, name: string): string {
  if (typeof value !== "string" || value.length > MAX_URL_LENGTH || !/^https?:\/\/[!-~]+$/.test(value)) {
    const expected = `an http(s) URL of at most ${MAX_URL_LENGTH} printable ASCII characters`;
    fail("INVALID_STRING", `${name} must be ${expected}, got ${describe(value)}`, { name });
  }
  return value;
}

export function parseBoolean(value: unknown, name: string): boolean {
  if (typeof value !== "boolean") fail("INVALID_ARGUMENT", `${name} must be true or false, got ${describe(value)}`);
  return value;
}

/** Checks a field whose value is a constant of the protocol. @throws SottoError INVALID_STRING */
export function parseConstant<T extends string | number>(value: unknown, expected: T, name: string): T {
  if (value !== expected)
    fail("INVALID_STRING", `${name} must be ${JSON.stringify(expected)}, got ${describe(value)}`, { name });
  return expected;
}

/**
 * Checks a string against the pattern `form`; `expected` describes the pattern in the message.
 * @throws SottoError INVALID_STRING
 */
export function parseText(value: unknown, form: RegExp, name: string, expected: string): string {
  if (typeof value !== "string" || !form.test(value))
    fail("INVALID_STRING", `${name} must be ${expected}, got ${describe(value)}`, { name });
  return value;
}
