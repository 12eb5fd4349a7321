import { type ErrorDetails, SottoError } from "@sotto/protocol";

/** Every code this package adds to those of @sotto/protocol. Codes are stable (programs switch on them), messages are not. */
export type WalletErrorCode =
  /** An option that is missing or of the wrong kind. */
  | "INVALID_OPTION"
  /** Seed words that are not 24 words of the list with a right checksum. */
  | "INVALID_WORDS"
  /** A store key with characters or a length that not every store can keep. */
  | "INVALID_STORE_KEY"
  /** Another process changed the record in between. */
  | "STORE_CONFLICT"
  /** The store belongs to another wallet, pool or chain. */
  | "STORE_FOREIGN"
  /** The store holds something this version did not write. */
  | "STORE_DAMAGED"
  | "STORE_CLOSED"
  /** This Node has no SQLite. */
  | "NODE_TOO_OLD"
  /** The node does not answer. */
  | "NODE_UNREACHABLE"
  /** The node answers with an error. */
  | "NODE_ERROR"
  /** The node refuses to give the logs of so many blocks at once. The scan then asks for fewer. */
  | "RANGE_TOO_LARGE"
  /** What the node says does not fit together: events are missing, or it keeps changing its mind. */
  | "NODE_INCONSISTENT"
  /** The tree made from the node's events has another root than the contract. */
  | "ROOT_MISMATCH"
  | "WRONG_CHAIN"
  | "POOL_NOT_DEPLOYED"
  /** There is a contract, but not the pool that was expected. */
  | "POOL_MISMATCH"
  /** The prover's keys are of another set than the pool's. details: found, expected. */
  | "SET_MISMATCH"
  /** The token does not sign as EIP-3009 says, or is not a token. */
  | "TOKEN_MISMATCH"
  /** The wallet has less than is to be spent. details: missing. */
  | "INSUFFICIENT_FUNDS"
  /** Enough is there, but not yet spendable: unconfirmed, queued for the tree, or held by payments in flight. */
  | "FUNDS_NOT_READY"
  /** Enough is there, but in notes that are each too small: merge first. */
  | "MERGE_REQUIRED"
  /** The depositor's account has too few tokens. details: missing. */
  | "INSUFFICIENT_TOKENS"
  | "UNKNOWN_PAYMENT"
  /** The payment is settled: there is nothing to try again. */
  | "PAYMENT_SETTLED"
  /** The payment may no longer be tried again: its note was spent otherwise or given free. */
  | "PAYMENT_CLOSED"
  | "QUEUE_EMPTY"
  /** This machine's clock is behind the chain's: what it proves would be expired at once. */
  | "CLOCK_BEHIND"
  /** The prover gave a proof of something else. */
  | "PROOF_MISMATCH"
  | "TRANSACTION_FAILED"
  | "TIMED_OUT";

/** An error of the wallet: `code` says which, `message` what was wrong and what was expected. */
export class WalletError extends SottoError {
  override readonly name = "WalletError";
  declare readonly code: WalletErrorCode;

  constructor(code: WalletErrorCode, message: string, details?: ErrorDetails, options?: { cause?: unknown }) {
    super(code, message, details, options);
  }
}
