import { type ErrorDetails, SottoError } from "@sotto/protocol";

/** Codes of the HTTP layer, beside the registry's own (registry/errors.ts). Stable: clients switch on them. */
export type PhoneErrorCode =
  // What came in
  | "INVALID_PHONE_NUMBER"
  | "AMBIGUOUS_PHONE_NUMBER"
  | "NUMBER_NOT_SERVED"
  | "UNKNOWN_NUMBER"
  | "LOOKUP_SIGNATURE_REQUIRED"
  // Limits
  | "CONTRACT_CHECKS_LIMITED"
  // What it needs
  | "CHAIN_UNAVAILABLE"
  | "STORE_UNAVAILABLE"
  // Starting, and senders
  | "WRONG_CHAIN"
  | "DEVELOPMENT_SENDER_REFUSED"
  | "CODE_NOT_SENT";

export class PhoneError extends SottoError {
  override readonly name = "PhoneError";
  declare readonly code: PhoneErrorCode;

  constructor(code: PhoneErrorCode, message: string, details?: ErrorDetails, options?: { cause?: unknown }) {
    super(code, message, details, options);
  }
}
