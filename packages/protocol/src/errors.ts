import type { PROTOCOL_ERRORS } from "./error-definitions.ts";
import { createErrorClass, type ErrorDetails, SottoError } from "./sotto-error.ts";

export { type ErrorDetails, SottoError } from "./sotto-error.ts";

/** The codes this package throws. */
export type ProtocolErrorCode = keyof typeof PROTOCOL_ERRORS;

/** An error of this package: a value is invalid, or a check failed. */
export const ProtocolError = /* @__PURE__ */ createErrorClass<typeof PROTOCOL_ERRORS>("ProtocolError");
export type ProtocolError = InstanceType<typeof ProtocolError>;

/** Throws a {@link ProtocolError}. */
export function fail(code: ProtocolErrorCode, message: string, details: ErrorDetails = {}): never {
  throw new ProtocolError(code, message, details);
}

/** Runs `read`. If it throws a SottoError with another code, throws one with this code and the same message. */
export function recode<T>(code: ProtocolErrorCode, what: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof SottoError) || cause.code === code) throw cause;
    throw new ProtocolError(code, `${what}: ${cause.message}`, cause.details, { cause });
  }
}

/** Names a value in an error message by its type and size; never repeats the value, which may be a secret. */
export function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (typeof value === "string") return `a string of ${value.length} characters`;
  if (value === undefined) return "nothing";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
