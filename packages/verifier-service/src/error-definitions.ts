import { CHAIN_ERRORS } from "@sotto/chain";
import { DATABASE_ERRORS } from "@sotto/database";
import { PHONE_ROUTE_ERRORS } from "@sotto/phone-registry";
import { type ErrorTable, PROTOCOL_ERRORS, SHARED_ERRORS } from "@sotto/protocol";
import { X402_ERRORS } from "@sotto/protocol/x402";
import { PROVER_ERRORS } from "@sotto/prover";
import { SERVER_ERRORS } from "@sotto/server";

/** The errors of the service itself. */
export const SERVICE_ERRORS = {
  INVALID_REQUEST: SERVER_ERRORS.INVALID_REQUEST,
  NOT_FOUND: SERVER_ERRORS.NOT_FOUND,
  OVERLOADED: SERVER_ERRORS.OVERLOADED,
  INVALID_CONFIG: SERVER_ERRORS.INVALID_CONFIG,
  RANGE_NOT_SATISFIABLE: { means: "The range begins after the end of the file.", http: 416 },
  QUOTA_EXCEEDED: {
    means: "A quota is exhausted. The message names it; `retry-after` says when to retry.",
    http: 429,
  },
  INVALID_TOKEN: { means: "The token is not this service's, or its key is no longer published.", http: 401 },
  TOKEN_EXPIRED: { means: "The token expired before it was settled.", http: 410 },
  TOKEN_REPLACED: { means: "Another payment of the same note replaced this one.", http: 409 },
  PAYMENT_MISMATCH: { means: "The request does not describe the payment that the token was issued for.", http: 409 },
  UNKNOWN_PAYMENT: SHARED_ERRORS.UNKNOWN_PAYMENT,
  SETTLEMENT_UNKNOWN: SHARED_ERRORS.SETTLEMENT_UNKNOWN,
  NULLIFIER_QUEUED: { means: "Another operation is spending the note.", http: 409 },
  NULLIFIER_SPENT: { means: "The note is spent.", http: 409 },
  WRONG_DEPLOYMENT: { means: "The deposit is for another chain or pool.", http: 422 },
  INVALID_PROOF: { means: "The proof is not valid.", http: 422 },
  CONTEXT_MISMATCH: { means: "The fields of the request do not match the proof.", http: 422 },
  UNKNOWN_ROOT: { means: "The root in the proof was never a root of the pool's tree.", http: 422 },
  EXPIRED: { means: "The validity of the deposit or withdrawal ends too soon to settle it.", http: 422 },
  VALIDITY_TOO_LONG: { means: "The validity of the deposit or withdrawal ends too late.", http: 422 },
  AMOUNT_TOO_SMALL: { means: "The amount is below the minimum of the pool or the service.", http: 422 },
  FEE_TOO_SMALL: { means: "The fee is below the service's minimum.", http: 422 },
  AUTHORIZATION_MISMATCH: {
    means: "The authorization is not signed by the depositor for these notes, or is not valid yet.",
    http: 422,
  },
  INSUFFICIENT_TOKENS: SHARED_ERRORS.INSUFFICIENT_TOKENS,
  CHAIN_UNAVAILABLE: SHARED_ERRORS.CHAIN_UNAVAILABLE,
  STORE_UNAVAILABLE: DATABASE_ERRORS.STORE_UNAVAILABLE,
  HEAD_TOO_OLD: { means: "The newest block that the service knows is too old to settle in time.", http: 503 },
  FEES_TOO_HIGH: { means: "The chain's gas price is above the service's limit.", http: 503 },
  RELAYER_BALANCE_LOW: { means: "The relayer's balance is too low to pay for gas.", http: 503 },
  GAS_BUDGET_EXHAUSTED: { means: "The relayer's daily gas budget is exhausted.", http: 503 },
  RELAYER_STUCK: { means: "The relayer has not read the chain for more than 60 s.", http: 503 },
  TOKEN_KEY_INVALID: { means: "A key for payment tokens cannot be used." },
  WRONG_CHAIN: SHARED_ERRORS.WRONG_CHAIN,
  POOL_MISSING: { means: "There is no pool at the configured address." },
  VERIFIER_MISMATCH: { means: "The pool's verifiers were made with different keys than the service's." },
  CONFIRMATIONS_TOO_SLOW: { means: "The confirmations take longer than a payment is valid." },
  QUOTAS_BEYOND_BUDGET: { means: "The quotas allow more transactions a day than the gas budget pays for." },
  ARTIFACT_DAMAGED: { means: "An artifact cannot be read, or is not the file that the lock names." },
  PROVER_ENDED: { means: "The process that proves for the relayer has ended." },
  PROVER_TIMED_OUT: { means: "The process that proves for the relayer did not finish a proof in time." },
} satisfies ErrorTable;

/** The errors of the verify engine, in addition to the prover's errors for a malformed proof. */
export const ENGINE_ERRORS = {
  ENGINE_OVERLOADED: { means: "The queue of proofs to verify is full. Try again.", http: 503 },
  ENGINE_FAILED: PROVER_ERRORS.ENGINE_FAILED,
  ENGINE_CLOSED: { means: "The verify engine is shutting down. Try again.", http: 503 },
  CIRCUIT_UNKNOWN: PROVER_ERRORS.CIRCUIT_UNKNOWN,
} satisfies ErrorTable;

/** The errors of the relayer. */
export const RELAYER_ERRORS = {
  INVALID_RELAYER_OPTION: { means: "An option of the relayer is missing or out of its range." },
  UNKNOWN_OPERATION: { means: "There is no payment, deposit or withdrawal with this id." },
} satisfies ErrorTable;

/** The errors of the store, in addition to those of its database. */
export const STORE_ERRORS = {
  INVALID_RECORD: { means: "The store cannot keep a record. The message names the field." },
  LEASE_LOST: { means: "Another replica has become the relayer." },
} satisfies ErrorTable;

/** Every error that a route of the service can respond with. Errors without a status are faults of the service: 500. */
export const ROUTE_ERRORS = {
  ...SERVER_ERRORS,
  ...PROTOCOL_ERRORS,
  ...X402_ERRORS,
  ...PROVER_ERRORS,
  ...CHAIN_ERRORS,
  ...DATABASE_ERRORS,
  ...STORE_ERRORS,
  ...ENGINE_ERRORS,
  ...RELAYER_ERRORS,
  ...SERVICE_ERRORS,
  ...PHONE_ROUTE_ERRORS,
} satisfies ErrorTable;
