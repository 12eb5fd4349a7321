import { type ErrorDetails, SottoError } from "@sotto/protocol";

/** Why a phone number is not paid. No message and no detail holds the number. Codes are stable, messages are not. */
export type PhoneErrorCode =
  /** An option or field of the request is missing or of the wrong kind. */
  | "PHONE_OPTION_INVALID"
  /** Not a number in its international form: + and 5 to 15 digits. */
  | "PHONE_NUMBER_INVALID"
  /** The registry knows nobody under this number. */
  | "PHONE_UNKNOWN"
  /** The registry's answer lacks what was signed, or does not fit together. */
  | "PHONE_ANSWER_INVALID"
  /** Nobody has proven to hold the number: whoever linked it may be anybody. */
  | "PHONE_UNVERIFIED"
  /** What the wallet signed is about another number, chain, pool or registry. details: field. */
  | "PHONE_BINDING_FOREIGN"
  /** The wallet did not sign the address that the registry names. */
  | "PHONE_NOT_SIGNED"
  /** What the wallet signed has expired, or is of the future. */
  | "PHONE_BINDING_EXPIRED"
  /**
   * The number belonged to another wallet, or had another key, when it was paid before, and nobody confirmed the change.
   * details: knownWallet, knownKey, knownIssuedAt, offeredWallet, offeredKey, offeredIssuedAt.
   */
  | "PHONE_CHANGED"
  /** The registry shows a link that is older than the one it showed before. details as of PHONE_CHANGED. */
  | "PHONE_ROLLBACK"
  /** A 402 answer names a phone number, and not the wallet or not the key it belongs to. details: field. */
  | "PHONE_RECIPIENT_MISMATCH";

export class PhoneError extends SottoError {
  override readonly name = "PhoneError";
  declare readonly code: PhoneErrorCode;

  constructor(code: PhoneErrorCode, message: string, details?: ErrorDetails, options?: { cause?: unknown }) {
    super(code, message, details, options);
  }
}
