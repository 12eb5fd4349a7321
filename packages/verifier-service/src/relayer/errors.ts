import { type ErrorDetails, SottoError } from "@sotto/protocol";

/** Codes of the relayer. Stable. */
export type RelayerErrorCode =
  /** An option is missing or out of its range. */
  | "INVALID_RELAYER_OPTION"
  /** There is no payment, deposit or withdrawal with this id. */
  | "UNKNOWN_OPERATION"
  /** There is no pool, or another one, where it was expected. */
  | "POOL_MISMATCH"
  /** The prover proved another statement than it was asked for. */
  | "PROOF_MISMATCH";

export class RelayerError extends SottoError {
  override readonly name: string = "RelayerError";
  declare readonly code: RelayerErrorCode;

  constructor(code: RelayerErrorCode, message: string, details?: ErrorDetails, options?: { cause?: unknown }) {
    super(code, message, details, options);
  }
}

/** The code of an error for logs and states. */
export function codeOf(error: unknown): string {
  return error instanceof SottoError ? error.code : "UNEXPECTED";
}
