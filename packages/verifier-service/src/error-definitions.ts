import { CHAIN_ERRORS } from "@sotto/chain";
import { DATABASE_ERRORS } from "@sotto/database";
import { GROTH16_ERRORS } from "@sotto/groth16";
import { type ErrorTable, PROTOCOL_ERRORS, SHARED_ERRORS } from "@sotto/protocol";
import { X402_ERRORS } from "@sotto/protocol/x402";
import { PROVER_ERRORS } from "@sotto/prover";
import { SERVER_ERRORS } from "@sotto/server";

/** The errors of a remote signer, which has the key of the relayer's account. */
export const SIGNER_ERRORS = {
  SIGNER_UNAVAILABLE: {
    means: "The remote signer, which has the relayer's key, does not work. Try again.",
    cause: "It is down, the URL or a certificate is wrong, or a firewall or proxy blocks the connection.",
    http: 503,
  },
  SIGNER_REFUSED: {
    means: "The remote signer does not sign for the relayer's account.",
    cause:
      "The signer has no key of the account, has lost its connection to the KMS or HSM, or a policy forbids the transaction.",
    http: 503,
  },
  SIGNER_MISMATCH: {
    means: "The remote signer returned something else than the signed transaction that was asked for.",
    cause:
      "The signer is configured for another chain, the URL leads to another program, or the signer is compromised.",
    http: 503,
  },
} satisfies ErrorTable;

/** The errors of the service itself. */
export const SERVICE_ERRORS = {
  INVALID_REQUEST: SERVER_ERRORS.INVALID_REQUEST,
  NOT_FOUND: SERVER_ERRORS.NOT_FOUND,
  OVERLOADED: SERVER_ERRORS.OVERLOADED,
  INVALID_CONFIG: SERVER_ERRORS.INVALID_CONFIG,
  RANGE_NOT_SATISFIABLE: {
    means: "The range begins after the end of the file.",
    cause: "The client resumes a download of a file that was replaced by a shorter one.",
    http: 416,
  },
  QUOTA_EXCEEDED: SHARED_ERRORS.QUOTA_EXCEEDED,
  INVALID_TOKEN: {
    means: "The token is not this service's, or its key is no longer published.",
    cause: "The token comes from another service, was changed, or is older than the last rotation of keys.",
    http: 401,
  },
  TOKEN_EXPIRED: {
    means: "The token expired before it was settled.",
    cause: "The client waited too long between verify and settle.",
    http: 410,
  },
  TOKEN_REPLACED: {
    means: "Another payment of the same note replaced this one.",
    cause: "The payer made a new proof with the same note, for example after a crash.",
    http: 409,
  },
  PAYMENT_MISMATCH: {
    means: "The request does not describe the payment that the token was issued for.",
    cause: "The client combines the token of one payment with the fields of another.",
    http: 409,
  },
  UNKNOWN_PAYMENT: SHARED_ERRORS.UNKNOWN_PAYMENT,
  SETTLEMENT_UNKNOWN: SHARED_ERRORS.SETTLEMENT_UNKNOWN,
  NULLIFIER_QUEUED: {
    means: "Another operation is spending the note.",
    cause: "The payer sent the note to two recipients, or repeats a request under another id.",
    http: 409,
  },
  NULLIFIER_SPENT: {
    means: "The note is spent.",
    cause: "The payment was settled before, or another device with the same words spent the note.",
    http: 409,
  },
  WRONG_DEPLOYMENT: SHARED_ERRORS.WRONG_DEPLOYMENT,
  INVALID_PROOF: {
    means: "The proof is not valid.",
    cause: "The circuits' versions differ, the proof is for other signals, or it is forged.",
    http: 422,
  },
  CONTEXT_MISMATCH: {
    means: "The fields of the request do not match the proof.",
    cause: "A field was changed after the proof was made.",
    http: 422,
  },
  UNKNOWN_ROOT: {
    means: "The root in the proof was never a root of the pool's tree.",
    cause: "The client read another pool or a chain that was replaced, or the service's node is behind.",
    http: 422,
  },
  EXPIRED: {
    means: "The validity of the deposit or withdrawal ends too soon to settle it.",
    cause: "The client chose a short validity or sent the request late, or its clock is behind.",
    http: 422,
  },
  VALIDITY_TOO_LONG: {
    means: "The validity of the deposit or withdrawal ends too late.",
    cause: "The client chose a longer validity than the service plans for, or its clock is ahead.",
    http: 422,
  },
  AMOUNT_TOO_SMALL: {
    means: "The amount is below the minimum of the pool or the service.",
    cause: "The amount is in the wrong unit, or not worth its gas.",
    http: 422,
  },
  FEE_TOO_SMALL: {
    means: "The fee is below the service's minimum.",
    cause: "The client read the fee before the service raised it, or computes it itself.",
    http: 422,
  },
  AUTHORIZATION_MISMATCH: {
    means: "The authorization is not signed by the depositor for these notes, or is not valid yet.",
    cause: "Another account signed, the notes were changed after signing, or a clock is ahead.",
    http: 422,
  },
  NOT_APPROVED: SHARED_ERRORS.NOT_APPROVED,
  INSUFFICIENT_TOKENS: SHARED_ERRORS.INSUFFICIENT_TOKENS,
  CHAIN_UNAVAILABLE: SHARED_ERRORS.CHAIN_UNAVAILABLE,
  STORE_UNAVAILABLE: DATABASE_ERRORS.STORE_UNAVAILABLE,
  SERVICE_CLOCK_WRONG: {
    means: "The service's clock is more than a minute behind the time of the chain's newest block.",
    cause: "The operator's machine does not synchronize its clock, or somebody set it back.",
    http: 503,
  },
  HEAD_TOO_OLD: {
    means: "The newest block that the service knows is too old to settle in time.",
    cause: "The chain mines no blocks, the service's nodes are behind, or its clock is ahead.",
    http: 503,
  },
  FEES_TOO_HIGH: {
    means: "The chain's gas price is above the service's limit.",
    cause: "The chain is congested, or the operator's limit is low.",
    http: 503,
  },
  RELAYER_BALANCE_LOW: {
    means: "The relayer's balance is too low to pay for gas.",
    cause: "The operator has not sent ETH to the relayer's account for some time.",
    http: 503,
  },
  ...SIGNER_ERRORS,
  GAS_BUDGET_EXHAUSTED: {
    means: "The relayer's daily gas budget is exhausted.",
    cause: "More operations arrived today than planned, or gas is expensive.",
    http: 503,
  },
  RELAYER_STUCK: {
    means: "The relayer has not read the chain for more than 60 s.",
    cause: "The nodes are down, or the process is overloaded.",
    http: 503,
  },
  TOKEN_KEY_INVALID: {
    means: "A key for payment tokens cannot be used.",
    cause: "A file of the key folder was edited, cut off, or is readable by others.",
  },
  WRONG_CHAIN: SHARED_ERRORS.WRONG_CHAIN,
  POOL_MISSING: {
    means: "There is no pool at the configured address.",
    cause: "The address or the chain is wrong, or a local chain was restarted without its pool.",
  },
  VERIFIER_MISMATCH: {
    means: "The pool's verifiers were made with different keys than the service's.",
    cause: "The circuits were built again with other keys, or the service and the pool are from different releases.",
  },
  CONFIRMATIONS_TOO_SLOW: {
    means: "The confirmations take longer than a payment is valid.",
    cause: "The number of confirmations was chosen for a chain with faster blocks.",
  },
  QUOTAS_BEYOND_BUDGET: {
    means: "The quotas allow more transactions a day than the gas budget pays for.",
    cause: "The quotas or the limit of the gas price were raised, but not the budget.",
  },
  ARTIFACT_DAMAGED: {
    means: "An artifact cannot be read, or is not the file that the lock names.",
    cause: "The circuits were not built, or the folder mixes files of two builds.",
  },
  EXTENSION_INVALID: {
    means: "An extension of the service is incomplete, or collides with another one. The message names both.",
    cause: "Two extensions have the same name, setting, table or error, or one is listed twice.",
  },
  EXTENSION_FAILED: {
    means: "An extension did not start. The message names it and the reason.",
    cause: "The extension has a route or a metric that exists already, or cannot open what it needs.",
  },
  PROVER_ENDED: {
    means: "The process that proves for the relayer has ended.",
    cause: "The process ran out of memory, or the service is shutting down.",
  },
  PROVER_TIMED_OUT: {
    means: "The process that proves for the relayer did not finish a proof in time.",
    cause: "The machine is overloaded or too small.",
  },
} satisfies ErrorTable;

/** The errors of the verify engine, in addition to the prover's errors for a malformed proof. */
export const ENGINE_ERRORS = {
  ENGINE_OVERLOADED: {
    means: "The queue of proofs to verify is full. Try again.",
    cause: "More proofs arrive than this machine's cores can verify.",
    http: 503,
  },
  ENGINE_FAILED: GROTH16_ERRORS.ENGINE_FAILED,
  ENGINE_CLOSED: {
    means: "The verify engine is shutting down. Try again.",
    cause: "The operator restarts or updates the service.",
    http: 503,
  },
  CIRCUIT_UNKNOWN: PROVER_ERRORS.CIRCUIT_UNKNOWN,
} satisfies ErrorTable;

/** The errors of the relayer. */
export const RELAYER_ERRORS = {
  INVALID_RELAYER_OPTION: {
    means: "An option of the relayer is missing or out of its range.",
    cause: "A setting has another unit, or a program starts the relayer without a prover.",
  },
  UNKNOWN_OPERATION: {
    means: "There is no payment, deposit or withdrawal with this id.",
    cause: "The operation was recorded in another database, or its id has a typo.",
  },
} satisfies ErrorTable;

/** The errors of the store, in addition to those of its database. */
export const STORE_ERRORS = {
  INVALID_RECORD: {
    means: "The store cannot keep a record. The message names the field.",
    cause: "A program bypasses the service's checks and writes to the store.",
  },
} satisfies ErrorTable;

/** Every error that a route of the service can respond with; extensions add theirs. Errors without a status are faults of the service: 500. */
export const ROUTE_ERRORS = {
  ...SERVER_ERRORS,
  ...PROTOCOL_ERRORS,
  ...X402_ERRORS,
  ...GROTH16_ERRORS,
  ...PROVER_ERRORS,
  ...CHAIN_ERRORS,
  ...DATABASE_ERRORS,
  ...STORE_ERRORS,
  ...ENGINE_ERRORS,
  ...RELAYER_ERRORS,
  ...SIGNER_ERRORS,
  ...SERVICE_ERRORS,
} satisfies ErrorTable;
