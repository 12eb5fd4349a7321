import { createErrorClass, type ErrorDetails } from "@sotto/protocol/base";
import type { PROVER_ERRORS } from "./error-definitions.ts";

/** The codes of a {@link ProverError}. */
export type ProverErrorCode = keyof typeof PROVER_ERRORS;

/** An error of artifacts, keys or their use. Errors of witnesses and proofs are `Groth16Error`s of @sotto/groth16. */
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
