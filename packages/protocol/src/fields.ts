import { describe, fail, type ProtocolErrorCode } from "./errors.ts";

/** Maximum length of a resourceUrl on the wire, characters. */
export const MAX_URL_LENGTH = 2048;

/** An object of JSON, by its own fields alone: what a prototype holds was never sent. */
export type Fields = (name: string) => unknown;

/** Throws `code` for what is no JSON object. */
export function fieldsOf(value: unknown, name: string, code: ProtocolErrorCode): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    fail(code, `${name} must be an object, got ${describe(value)}`);
  return (field) => (Object.hasOwn(value, field) ? (value as Record<string, unknown>)[field] : undefined);
}

/** An absolute http(s) URL as an opaque text, compared byte for byte and never normalised. Throws INVALID_STRING. */
export function readHttpUrl(value: unknown, name: string): string {
  if (typeof value !== "string" || value.length > MAX_URL_LENGTH || !/^https?:\/\/[!-~]+$/.test(value)) {
    const expected = `an http(s) URL of at most ${MAX_URL_LENGTH} printable ASCII characters`;
    fail("INVALID_STRING", `${name} must be ${expected}, got ${describe(value)}`, { name });
  }
  return value;
}

export function readBoolean(value: unknown, name: string): boolean {
  if (typeof value !== "boolean") fail("INVALID_ARGUMENT", `${name} must be true or false, got ${describe(value)}`);
  return value;
}

/** One constant of the protocol. Throws INVALID_STRING. */
export function readConstant<T extends string | number>(value: unknown, expected: T, name: string): T {
  if (value !== expected) fail("INVALID_STRING", `${name} must be ${JSON.stringify(expected)}`, { name });
  return expected;
}

/** A text that matches `form`. Throws INVALID_STRING. */
export function readText(value: unknown, form: RegExp, name: string, expected: string): string {
  if (typeof value !== "string" || !form.test(value))
    fail("INVALID_STRING", `${name} must be ${expected}, got ${describe(value)}`, { name });
  return value;
}
