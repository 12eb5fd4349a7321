import { type ErrorDetails, SottoError } from "@sotto/protocol";

/** Codes of the verify engine, beside the prover's codes for what is no encoding of a proof. */
export type EngineErrorCode =
  /** As many proofs wait as may: come back. */
  | "ENGINE_OVERLOADED"
  /** A worker died with this proof, twice; or none can be started. */
  | "ENGINE_FAILED"
  | "ENGINE_CLOSED";

export class EngineError extends SottoError {
  override readonly name = "EngineError";
  declare readonly code: EngineErrorCode;

  constructor(code: EngineErrorCode, message: string, details?: ErrorDetails, options?: { cause?: unknown }) {
    super(code, message, details, options);
  }
}
