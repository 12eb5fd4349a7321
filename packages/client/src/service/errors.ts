import { type ErrorDetails, SottoError } from "@sotto/protocol";

/** What can go wrong between a client and a service. Codes are stable, messages are not. */
export type ServiceErrorCode =
  /** The address is no http(s) URL, or not one that is allowed. */
  | "SERVICE_NOT_ALLOWED"
  /** The address is of plain http, not of this machine, and the chain is not known to be a local one. */
  | "SERVICE_NOT_SECURE"
  /** Nothing answers there. */
  | "SERVICE_UNREACHABLE"
  /** No answer in time. */
  | "SERVICE_TIMEOUT"
  /** It answers with a redirect. None is followed: bundles go to the service that was allowed, and nowhere else. */
  | "SERVICE_REDIRECTED"
  /** It answers what the interface does not know, or too much of it. */
  | "SERVICE_ANSWER_INVALID"
  /** It answers with an error. details: status, and the error's `reason` (its code); `retryAfter` in seconds. */
  | "SERVICE_REFUSED"
  /** Verify says `valid: false`. details: reason. */
  | "PAYMENT_INVALID"
  /** The payment, deposit or withdrawal failed: nothing of it can land any more. details: reason, id. */
  | "NOT_SETTLED"
  /** It was not settled in the time there was: it may still be. details: id, txSignature. */
  | "SETTLEMENT_PENDING";

/** An error of `SottoService`. No message repeats what was sent, nor a token. */
export class ServiceError extends SottoError {
  override readonly name = "ServiceError";
  declare readonly code: ServiceErrorCode;

  constructor(code: ServiceErrorCode, message: string, details?: ErrorDetails, options?: { cause?: unknown }) {
    super(code, message, details, options);
  }
}

/** A text of the other side as it may stand in a message of ours: one line of printable characters, cut short. */
export function quoted(value: unknown, most = 200): string {
  if (typeof value !== "string") return "";
  const line = value.replaceAll(/[^\x21-\x7e\u00a1-\ud7ff]+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most)}..` : line;
}
