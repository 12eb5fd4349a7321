import { PHONE_STATUS } from "@sotto/phone-registry";
import { SERVER_STATUS, type StatusTable, statusOf as statusIn } from "@sotto/server";

/**
 * The one table from error codes to HTTP statuses. A code that is not here is a fault of the service: 500, and its
 * message stays inside.
 */
export const STATUS: StatusTable = {
  ...SERVER_STATUS,
  ...PHONE_STATUS,
  // Values that do not decode
  INVALID_BUNDLE: 400,
  INVALID_INTEGER: 400,
  INVALID_FIELD_ELEMENT: 400,
  INVALID_AMOUNT: 400,
  INVALID_HEX: 400,
  INVALID_STRING: 400,
  INVALID_POINT: 400,
  INVALID_SIGNATURE: 400,
  PROOF_MALFORMED: 400,
  PROOF_COORDINATE_RANGE: 400,
  PROOF_AT_INFINITY: 400,
  PROOF_NOT_ON_CURVE: 400,
  PROOF_NOT_IN_SUBGROUP: 400,
  SIGNALS_MALFORMED: 400,
  SIGNAL_RANGE: 400,
  RANGE_NOT_SATISFIABLE: 416,
  // x402's terms
  X402_VERSION_UNSUPPORTED: 400,
  X402_SCHEME_UNSUPPORTED: 400,
  X402_NETWORK_UNSUPPORTED: 400,
  X402_REQUIREMENTS_INVALID: 400,
  X402_PAYLOAD_INVALID: 400,
  // Tokens and payments
  INVALID_TOKEN: 401,
  TOKEN_EXPIRED: 410,
  TOKEN_REPLACED: 409,
  PAYMENT_MISMATCH: 409,
  NULLIFIER_QUEUED: 409,
  NULLIFIER_SPENT: 409,
  UNKNOWN_PAYMENT: 404,
  SETTLEMENT_UNKNOWN: 503,
  // Deposits and withdrawals that decode and cannot be relayed
  WRONG_DEPLOYMENT: 422,
  INVALID_PROOF: 422,
  CONTEXT_MISMATCH: 422,
  UNKNOWN_ROOT: 422,
  EXPIRED: 422,
  VALIDITY_TOO_LONG: 422,
  AMOUNT_TOO_SMALL: 422,
  FEE_TOO_SMALL: 422,
  AUTHORIZATION_MISMATCH: 422,
  INSUFFICIENT_TOKENS: 422,
  // Limits
  QUOTA_EXCEEDED: 429,
  // Nothing could be settled in time
  HEAD_TOO_OLD: 503,
  FEES_TOO_HIGH: 503,
  RELAYER_BALANCE_LOW: 503,
  GAS_BUDGET_EXHAUSTED: 503,
  RELAYER_STUCK: 503,
  // What the service needs does not answer
  ENGINE_OVERLOADED: 503,
  ENGINE_FAILED: 503,
  ENGINE_CLOSED: 503,
};

export const statusOf = (code: string): number => statusIn(STATUS, code);
