import { isBytes } from "./bytes.ts";
import type { PROTOCOL_ERRORS } from "./error-definitions.ts";
import { type ForeignText, message } from "./message.ts";
import { invisibleCharacter } from "./pasted.ts";
import { createErrorClass, type ErrorDetails, SottoError } from "./sotto-error.ts";

export { type ErrorDetails, SottoError } from "./sotto-error.ts";

/** The codes this package throws. */
export type ProtocolErrorCode = keyof typeof PROTOCOL_ERRORS;

/** An error of this package: a value is invalid, or a check failed. */
export const ProtocolError = /* @__PURE__ */ createErrorClass<typeof PROTOCOL_ERRORS>("ProtocolError");
export type ProtocolError = InstanceType<typeof ProtocolError>;

/** Throws a {@link ProtocolError}. */
export function fail(code: ProtocolErrorCode, text: string, details: ErrorDetails = {}): never {
  throw new ProtocolError(code, text, details);
}

/**
 * Runs `read`. If it throws a SottoError with another code, rethrows it with `code`, prefixing the message with `what`.
 */
export function recode<T>(code: ProtocolErrorCode, what: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof SottoError) || cause.code === code) throw cause;
    throw new ProtocolError(code, message`${what}: ${cause}`, cause.details, { cause });
  }
}

/**
 * Describes a value in an error message by its type and size, and names an invisible character in a text; never includes
 * the value itself, which may be secret.
 */
export function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (isBytes(value)) return `${value.length} bytes`;
  if (typeof value === "string") {
    const invisible = invisibleCharacter(value);
    return `a string of ${value.length} characters${invisible === undefined ? "" : `, among them ${invisible}`}`;
  }
  if (value === undefined) return "nothing";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/**
 * Spaces, and characters that are invisible or change how others are displayed: control, bidi and format characters.
 */
const NOT_PRINTED = /[^\p{L}\p{M}\p{N}\p{P}\p{S}]+/gu;

/**
 * Makes a text from another party safe for an error message or a log: one line of at most `max` UTF-16 units; "" for
 * other values. Each run of spaces, control, bidi and format characters becomes one space.
 */
export function quoted(value: unknown, max = 200): string {
  if (typeof value !== "string") return "";
  // Bounds the work: the text may be megabytes long, and most of it is dropped.
  const line = value
    .slice(0, 4 * max)
    .replaceAll(NOT_PRINTED, " ")
    .trim();
  if (line.length <= max && value.length <= 4 * max) return line;
  // The cut may split a surrogate pair.
  return `${line.slice(0, max - 2).replace(/\p{Cs}$/u, "")}..`;
}

/** A text of another party for a message: see {@link quoted}. */
export const foreign = (value: unknown, max = 200): ForeignText => ({ foreign: quoted(value, max) });
