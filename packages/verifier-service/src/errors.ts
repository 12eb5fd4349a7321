import { type ErrorDetails, SottoError } from "@sotto/protocol";
import type { ServerErrorCode } from "@sotto/server";

/** Codes of the service itself, beside those every server has. Stable: clients switch on them; http/status.ts has their statuses. */
export type ServiceErrorCode =
  | ServerErrorCode
  // What came in
  | "RANGE_NOT_SATISFIABLE"
  // Limits
  | "QUOTA_EXCEEDED"
  // Tokens and payments
  | "INVALID_TOKEN"
  | "TOKEN_EXPIRED"
  | "TOKEN_REPLACED"
  | "PAYMENT_MISMATCH"
  | "UNKNOWN_PAYMENT"
  | "SETTLEMENT_UNKNOWN"
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
  | "INSUFFICIENT_TOKENS"
  // The service
  | "CHAIN_UNAVAILABLE"
  | "STORE_UNAVAILABLE"
  | "HEAD_TOO_OLD"
  | "FEES_TOO_HIGH"
  | "RELAYER_BALANCE_LOW"
  | "GAS_BUDGET_EXHAUSTED"
  | "RELAYER_STUCK"
  // Starting
  | "TOKEN_KEY_INVALID"
  | "WRONG_CHAIN"
  | "POOL_MISSING"
  | "VERIFIER_MISMATCH"
  | "CONFIRMATIONS_TOO_SLOW"
  | "QUOTAS_BEYOND_BUDGET"
  | "ARTIFACT_DAMAGED";

export class ServiceError extends SottoError {
  override readonly name = "ServiceError";
  declare readonly code: ServiceErrorCode;

  constructor(code: ServiceErrorCode, message: string, details?: ErrorDetails, options?: { cause?: unknown }) {
    super(code, message, details, options);
  }
}
