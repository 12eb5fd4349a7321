import { createErrorClass, type ErrorDetails } from "@sotto/protocol";
import type { PROVER_ERRORS } from "./error-definitions.ts";

export type ProverErrorCode = keyof typeof PROVER_ERRORS;

/** An error of artifacts, witnesses, proofs or their verification. */
export const ProverError = /* @__PURE__ */ createErrorClass<typeof PROVER_ERRORS>("ProverError");
export type ProverError = InstanceType<typeof ProverError>;

/** Makes a {@link ProverError}. */
export function proverError(
  code: ProverErrorCode,
  message: string,
  details: ErrorDetails = {},
  cause?: unknown,
): ProverError {
  return new ProverError(code, message, details, cause === undefined ? undefined : { cause });
}

/** @throws SottoError ABORTED if the signal is aborted, with the signal's reason as its cause */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw proverError("ABORTED", "The caller aborted the operation.", {}, signal.reason);
}
