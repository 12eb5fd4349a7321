import { createErrorClass, type ErrorDetails } from "@sotto/protocol/base";
import type { PROVER_ERRORS } from "./error-definitions.ts";

/** The codes of a {@link ProverError}. */
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

const aborted = ({ reason }: AbortSignal): ProverError =>
  proverError("ABORTED", "The caller aborted the operation.", {}, reason);

/** @throws SottoError ABORTED if the signal is aborted, with the signal's reason as its cause */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw aborted(signal);
}

/** Settles like `promise`, unless the signal is aborted first. @throws SottoError ABORTED */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const stop = () => reject(aborted(signal));
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
