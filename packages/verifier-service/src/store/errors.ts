import { type ErrorDetails, SottoError } from "@sotto/protocol";

/** Codes of the store, beside those of the database under it. Stable: callers and the HTTP layer switch on them. */
export type StoreErrorCode =
  /** A record to be written is not what the store can keep; the message says which field. */
  | "INVALID_RECORD"
  /** Another replica has become the relayer: what was about to be written is its job now. */
  | "LEASE_LOST";

export class StoreError extends SottoError {
  override readonly name = "StoreError";
  declare readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, details?: ErrorDetails, options?: { cause?: unknown }) {
    super(code, message, details, options);
  }
}

export function assertRecord(condition: boolean, what: string, details: ErrorDetails = {}): void {
  if (!condition) throw new StoreError("INVALID_RECORD", what, details);
}
