import { type ErrorDetails, SottoError } from "@sotto/protocol";

/** What the classes of this package throw, beside the codes of @sotto/protocol/x402 and of the wallet. Stable. */
export type X402SchemeErrorCode =
  /** An option is missing, of the wrong kind, or does not fit the others. */
  | "X402_OPTION_INVALID"
  /** A price that is no amount of the pool's token. */
  | "X402_PRICE_INVALID"
  /** The seller asks for a payment in a pool, token or on a chain that is not the wallet's. */
  | "X402_POOL_FOREIGN"
  /** What is sold is at an address of plain http, not of this machine, and the chain is no local one. */
  | "X402_ORIGIN_NOT_SECURE"
  /** The seller's service is none of those that may see payments. details: service. */
  | "X402_SERVICE_NOT_ALLOWED"
  /** The seller's wallet did not sign the shielded address that is to be paid. */
  | "X402_RECIPIENT_NOT_SIGNED"
  /** More than the caller's spend controls allow. details: amount, limit. */
  | "X402_LIMIT_EXCEEDED"
  /** What is asked for is not at the origin that was asked. details: asked, resource. */
  | "X402_RESOURCE_ELSEWHERE"
  /** It was paid, and the proof is too old to be shown: it is not paid again. details: id, digest, nullifier, transaction. */
  | "X402_PAID_TOO_LONG_AGO"
  /** No note became spendable in time. Nothing was paid. */
  | "X402_FUNDS_TIMED_OUT"
  /** The service does not answer, or nothing that makes sense. A settlement may have happened. */
  | "X402_FACILITATOR_FAILED";

export class X402SchemeError extends SottoError {
  override readonly name = "X402SchemeError";
  declare readonly code: X402SchemeErrorCode;

  constructor(code: X402SchemeErrorCode, message: string, details?: ErrorDetails, options?: { cause?: unknown }) {
    super(code, message, details, options);
  }
}
