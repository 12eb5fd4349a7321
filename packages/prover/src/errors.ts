import { type ErrorDetails, SottoError } from "@sotto/protocol";

/** Every error code this package throws. Codes are stable (callers switch on them); messages are not. */
export const PROVER_ERROR_CODES = [
  /** The lock is not an object of SHA-256 hashes by circuit and file. */
  "ARTIFACTS_LOCK_INVALID",
  /** No lock of this name is compiled in. Details: set, known. */
  "ARTIFACT_SET_UNKNOWN",
  /** Neither or both of directory and base URL, a directory outside Node, a URL that is not http(s), or no WebCrypto. */
  "ARTIFACTS_SOURCE_INVALID",
  "ARTIFACT_MISSING",
  /** It may be there, but could not be read: no permission, no network, a server error. */
  "ARTIFACT_UNREACHABLE",
  "ARTIFACT_TOO_LARGE",
  /** Its SHA-256 is not the lock's. Details: file, expected, found. */
  "ARTIFACT_CHANGED",
  "CIRCUIT_UNKNOWN",
  "VERIFICATION_KEY_INVALID",
  "PROVING_KEY_INVALID",
  /** The witness generator is not a circom 2 one over BN254's scalar field. */
  "WITNESS_GENERATOR_INVALID",
  "CHAIN_ID_INVALID",
  /** Keys from a public seed, on a chain that is not local. */
  "DEVELOPMENT_KEYS_REFUSED",
  /** An input is missing, unknown, of the wrong size or not a canonical field element. Never shows a value. */
  "INPUT_INVALID",
  /** The inputs do not satisfy the circuit: there is nothing true to prove. */
  "WITNESS_REFUSED",
  /** The proof just made does not verify: files of different circuits, or a fault of the machine. */
  "PROOF_SELF_CHECK_FAILED",
  "ENGINE_FAILED",
  /** Not eight canonical decimal strings. */
  "PROOF_MALFORMED",
  /** A coordinate that is not below the field modulus q: the alias of another proof. */
  "PROOF_COORDINATE_RANGE",
  "PROOF_AT_INFINITY",
  "PROOF_NOT_ON_CURVE",
  /** B is on the twist, but outside the subgroup of order r. */
  "PROOF_NOT_IN_SUBGROUP",
  /** Not as many canonical decimal strings as the circuit has public signals. */
  "SIGNALS_MALFORMED",
  /** A public signal that is not below the scalar field's order r: the alias of another one. */
  "SIGNAL_RANGE",
  "ABORTED",
] as const;

export type ProverErrorCode = (typeof PROVER_ERROR_CODES)[number];

/** This package's errors are made here, so that a code not listed above does not compile. */
export function proverError(
  code: ProverErrorCode,
  message: string,
  details: ErrorDetails = {},
  cause?: unknown,
): SottoError {
  return new SottoError(code, message, details, cause === undefined ? undefined : { cause });
}

/** Code `ABORTED`, with the signal's reason as its cause. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw proverError("ABORTED", "The caller aborted the operation.", {}, signal.reason);
}
