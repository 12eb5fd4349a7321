import type { X402_ERRORS } from "../error-definitions.ts";
import { createErrorClass, type ErrorDetails, SottoError } from "../sotto-error.ts";

export type X402ErrorCode = keyof typeof X402_ERRORS;

/** Something said in the terms of x402 that cannot be read. */
export const X402Error = /* @__PURE__ */ createErrorClass<typeof X402_ERRORS>("X402Error");
export type X402Error = InstanceType<typeof X402Error>;

/** Throws an {@link X402Error}; the error of a field becomes its cause. */
export function refuse(code: X402ErrorCode, message: string, details: ErrorDetails = {}, cause?: unknown): never {
  throw new X402Error(code, message, details, { cause });
}

/** Runs a reader of one field. Its error becomes the cause of an error of the object that the field is part of. */
export function reading<T>(code: X402ErrorCode, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SottoError) || error instanceof X402Error) throw error;
    return refuse(code, error.message, error.details, error);
  }
}
