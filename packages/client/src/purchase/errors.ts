import { type ErrorDetails, SottoError } from "@sotto/protocol";

/** What can go wrong while something is bought. Codes are stable, messages are not. */
export type PurchaseErrorCode =
  /** An option or field of the request is missing or of the wrong kind. Nothing was begun. */
  | "PURCHASE_INVALID"
  /** The price is above what may be spent on one request. details: price, limit. */
  | "REQUEST_LIMIT_EXCEEDED"
  /** More would be spent today (UTC) than may be. details: price, spent, limit. */
  | "DAY_LIMIT_EXCEEDED"
  /** More would be spent today (UTC) at this host than may be. details: price, spent, limit, host. */
  | "HOST_LIMIT_EXCEEDED"
  /** A purchase with this key is under way in this process. */
  | "PURCHASE_IN_PROGRESS"
  /** What was to be bought under this key was paid and delivered before. details: id, txSignature, digest. */
  | "PURCHASE_FINISHED"
  /** The purchase with this key is of something else: another recipient, price, resource or service. */
  | "PURCHASE_MISMATCH"
  /**
   * The wallet's notes did not become spendable in time. Nothing was paid: call again. details: cause (NO_BLOCKS: they wait
   * for confirmations and the chain mines no blocks; CONFIRMATIONS; APPEND; HELD by other payments; NONE), and the base
   * units that are pending, queued and held.
   */
  | "FUNDS_TIMED_OUT"
  /** The wallet's notes cannot be split as was asked: they hold too little. */
  | "SPLIT_IMPOSSIBLE"
  /** A proof can have more characters than the server takes in a header. Nothing was paid. details: needed, limit. */
  | "PROOF_HEADER_TOO_LONG"
  /** The service's token is not for this payment. Nothing was settled with it. */
  | "TOKEN_MISMATCH"
  /** The service says that the payment was settled, and the chain does not have it. details: id, validUntil. */
  | "SETTLEMENT_NOT_FOUND"
  /** Whether the payment was settled is not known yet. Call again: it goes on, and pays once. details: id, validUntil. */
  | "SETTLEMENT_UNKNOWN"
  /** The payment's note was spent by another payment of the same seed. Nothing was paid: call again. */
  | "PAYMENT_REPLACED"
  /**
   * It was paid, and the proof is too old to be shown. It is not paid again until the purchase is dismissed. details hold
   * all that a claim for a refund needs: id, txSignature, digest, nullifier, amount, resource, recipient, timestamp.
   */
  | "PAID_BUT_STALE"
  /** It was paid, and the server refuses the proof. As PAID_BUT_STALE, with the server's `reason` and `status`. */
  | "PAID_BUT_REFUSED"
  /** It was paid, and the server cannot take the proof just now: call again. details: reason, status. */
  | "PAID_NOT_TAKEN_YET"
  /** There is no open purchase with this id, or it cannot be dismissed yet. */
  | "UNKNOWN_PURCHASE";

export class PurchaseError extends SottoError {
  override readonly name = "PurchaseError";
  declare readonly code: PurchaseErrorCode;

  constructor(code: PurchaseErrorCode, message: string, details?: ErrorDetails, options?: { cause?: unknown }) {
    super(code, message, details, options);
  }
}
