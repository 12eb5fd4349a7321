import { type ErrorDetails, SottoError } from "@sotto/protocol";

/** Every code receipts and totals add. Codes are stable, messages are not. */
export type ReceiptErrorCode =
  /** Not a receipt, or not a statement of totals: a field is missing, malformed or too large. */
  | "RECEIPT_MALFORMED"
  /** What it says does not fit together, or not with the chain: it proves nothing. */
  | "RECEIPT_INVALID"
  /** The chain does not hold the payment, or not with enough confirmations. */
  | "RECEIPT_NOT_SETTLED"
  /** It answers another challenge than the one that was set. */
  | "RECEIPT_OTHER_CHALLENGE"
  /** It is about another chain, pool or address than the one that was asked about. */
  | "RECEIPT_ELSEWHERE"
  /** The spent note was a deposit: the receipt would show which, and with it the depositor's account. */
  | "RECEIPT_SHOWS_DEPOSIT"
  /** This wallet cannot make it: the payment is not settled, or its journal does not know it. */
  | "RECEIPT_IMPOSSIBLE";

/** An error of receipts and totals: `code` says which, `message` what was wrong and what was expected. */
export class ReceiptError extends SottoError {
  override readonly name = "ReceiptError";
  declare readonly code: ReceiptErrorCode;

  constructor(code: ReceiptErrorCode, message: string, details?: ErrorDetails, options?: { cause?: unknown }) {
    super(code, message, details, options);
  }
}
