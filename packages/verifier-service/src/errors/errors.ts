import { type ErrorDetails, SottoError } from "@sotto/protocol";

/** Codes of the service itself. Stable: clients switch on them. Each has its status in http/status.ts. */
export type ServiceErrorCode =
  // What came in
  | "INVALID_REQUEST"
  | "INVALID_JSON"
  | "DUPLICATE_KEY"
  | "FORBIDDEN_KEY"
  | "NESTED_TOO_DEEPLY"
  | "UNSUPPORTED_MEDIA_TYPE"
  | "BODY_TOO_LARGE"
  | "HEADERS_TOO_LARGE"
  | "NOT_FOUND"
  | "METHOD_NOT_ALLOWED"
  | "RANGE_NOT_SATISFIABLE"
  | "REQUEST_TIMEOUT"
  // Limits
  | "RATE_LIMITED"
  | "QUOTA_EXCEEDED"
  // Tokens and payments
  | "INVALID_TOKEN"
  | "TOKEN_EXPIRED"
  | "TOKEN_REPLACED"
  | "PAYMENT_MISMATCH"
  | "UNKNOWN_PAYMENT"
  | "NULLIFIER_QUEUED"
  | "NULLIFIER_SPENT"
  // Deposits and withdrawals
  | "WRONG_DEPLOYMENT"
  | "INVALID_PROOF"
  | "CONTEXT_MISMATCH"
  | "UNKNOWN_ROOT"
  | "EXPIRED"
  | "VALIDITY_TOO_LONG"
  | "AMOUNT_TOO_SMALL"
  | "FEE_TOO_SMALL"
  | "AUTHORIZATION_MISMATCH"
  // The service
  | "CHAIN_UNAVAILABLE"
  | "OVERLOADED"
  | "SHUTTING_DOWN"
  | "INTERNAL"
  // Starting
  | "INVALID_CONFIG"
  | "TOKEN_KEY_INVALID"
  | "WRONG_CHAIN"
  | "POOL_MISSING"
  | "VERIFIER_MISMATCH"
  | "CONFIRMATIONS_TOO_SLOW"
  | "ARTIFACT_DAMAGED"
  | "PORT_UNAVAILABLE";

export class ServiceError extends SottoError {
  override readonly name = "ServiceError";
  declare readonly code: ServiceErrorCode;

  constructor(code: ServiceErrorCode, message: string, details?: ErrorDetails, options?: { cause?: unknown }) {
    super(code, message, details, options);
  }
}
