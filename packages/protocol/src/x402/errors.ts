import type { X402_ERRORS } from "../error-definitions.ts";
import { createErrorClass, type ErrorDetails, SottoError } from "../sotto-error.ts";

/** The codes of an {@link X402Error}. */
export type X402ErrorCode = keyof typeof X402_ERRORS;

/** An x402 object that is malformed or not supported. */
export const X402Error = /* @__PURE__ */ createErrorClass<typeof X402_ERRORS>("X402Error");
export type X402Error = InstanceType<typeof X402Error>;

/** Throws an {@link X402Error}. */
export function refuse(code: X402ErrorCode, message: string, details: ErrorDetails = {}, cause?: unknown): never {
  throw new X402Error(code, message, details, { cause });
}

/** Runs `read`. If a field's parser throws a SottoError, throws an {@link X402Error} with the same message instead. */
export function reading<T>(code: X402ErrorCode, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SottoError) || error instanceof X402Error) throw error;
    return refuse(code, error.message, error.details, error);
  }
}
