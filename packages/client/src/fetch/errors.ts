import { type ErrorDetails, SottoError } from "@sotto/protocol";

/** Why a request was not paid for. Nothing was paid when one of these is thrown. Codes are stable, messages are not. */
export type FetchErrorCode =
  /** An option is missing or of the wrong kind. */
  | "FETCH_OPTION_INVALID"
  /** The request's body is larger than may be kept for sending it again. */
  | "BODY_TOO_LARGE"
  /** The request's body cannot be read, so it could not be sent again with its proof. */
  | "BODY_NOT_REPLAYABLE"
  /** The 402 is of x402-zk, and its body is none of the interface's. */
  | "CHALLENGE_INVALID"
  /** It asks for another chain, pool or token than the wallet's. details: field. */
  | "CHALLENGE_MISMATCH"
  /** It comes from another place than was asked: the request was redirected. */
  | "CHALLENGE_REDIRECTED"
  /** The shop or the service is spoken to in the clear: whoever listens could use the proof first. details: origin. */
  | "ORIGIN_NOT_SECURE"
  /** What is to be paid for is not what was requested. */
  | "RESOURCE_MISMATCH"
  /** Its endpoints are not those of a service that is allowed. */
  | "ENDPOINT_NOT_ALLOWED"
  /** The recipient's wallet did not sign the address that is to be paid. */
  | "RECIPIENT_NOT_SIGNED"
  /** The host was paid under another wallet before, and the change was not confirmed. details: known, offered. */
  | "RECIPIENT_CHANGED";

export class FetchError extends SottoError {
  override readonly name = "FetchError";
  declare readonly code: FetchErrorCode;

  constructor(code: FetchErrorCode, message: string, details?: ErrorDetails, options?: { cause?: unknown }) {
    super(code, message, details, options);
  }
}
