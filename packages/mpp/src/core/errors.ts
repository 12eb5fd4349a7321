import { createErrorClass, type ErrorDetails, SottoError } from "@sotto/protocol";
import type { MPP_ERRORS } from "./error-definitions.ts";

/** The codes of an {@link MppError}. */
export type MppErrorCode = keyof typeof MPP_ERRORS;

/** A challenge, credential or receipt of MPP is malformed. */
export const MppError = /* @__PURE__ */ createErrorClass<typeof MPP_ERRORS>("MppError");
export type MppError = InstanceType<typeof MppError>;

/** Throws an {@link MppError}. */
export function refuse(code: MppErrorCode, message: string, details: ErrorDetails = {}, cause?: unknown): never {
  throw new MppError(code, message, details, { cause });
}

/** Runs `read`. If a field's parser throws another SottoError, throws an {@link MppError} with its message instead. */
export function reading<T>(code: MppErrorCode, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SottoError) || error instanceof MppError) throw error;
    return refuse(code, error.message, error.details, error);
  }
}
