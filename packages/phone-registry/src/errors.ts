import { type ErrorDetails, SottoError } from "@sotto/protocol";

/** Codes of the HTTP layer, beside the registry's own. Stable: clients switch on them. */
export type PhoneErrorCode =
  // What came in
  | "INVALID_PHONE_NUMBER"
  | "AMBIGUOUS_PHONE_NUMBER"
  | "NUMBER_NOT_SERVED"
  | "UNKNOWN_NUMBER"
  | "LOOKUP_SIGNATURE_REQUIRED"
  // Limits
  | "CONTRACT_CHECKS_LIMITED"
  // What it needs
  | "CHAIN_UNAVAILABLE"
  | "STORE_UNAVAILABLE"
  // Starting, and senders
  | "WRONG_CHAIN"
  | "DEVELOPMENT_SENDER_REFUSED"
  | "CODE_NOT_SENT";

export class PhoneError extends SottoError {
  override readonly name = "PhoneError";
  declare readonly code: PhoneErrorCode;

  constructor(code: PhoneErrorCode, message: string, details?: ErrorDetails, options?: { cause?: unknown }) {
    super(code, message, details, options);
  }
}

/** Codes of the registry. Stable: callers and the HTTP layer switch on them. No message contains a number, key or code. */
export type RegistryErrorCode =
  /** A field of a request is not what it must be; details.field names it. */
  | "INVALID_REQUEST"
  /** An option of the registry is not what it must be; the message names it. */
  | "INVALID_OPTIONS"
  /** A key ring with keys of the wrong size, unusable or repeated ids, or none. */
  | "INVALID_KEYS"
  /** The database was written with a key of this id but another value. */
  | "KEY_MISMATCH"
  /** The database holds records under a key that is not in the ring; details.keys names the ids. */
  | "KEY_MISSING"
  /** A record is not what the registry wrote at this place and version. It is never answered. */
  | "RECORD_TAMPERED"
  /** The signature is not the wallet's over these fields, at this time, for this registry. */
  | "SIGNATURE_INVALID"
  /** This struct was accepted before. */
  | "SIGNATURE_REPLAYED"
  /** A newer link of the number is in place: sign again. */
  | "LINK_OUTDATED"
  /** There is no link of this number to this wallet to take back. */
  | "NOT_LINKED"
  /** The code is wrong; details.triesLeft says how often it may still be tried. */
  | "CODE_WRONG"
  /** No code waits for this number and wallet, or its time is over: link again for another. */
  | "CODE_EXPIRED"
  /** The code was tried too often: link again for another. */
  | "CODE_EXHAUSTED"
  /** Too many codes or tries; details.scope (number, wallet, client, total) and details.resetAt (ms). */
  | "CODES_LIMITED"
  /** Too many lookups; details.scope (client, range, caller) and details.resetAt (ms). */
  | "LOOKUPS_LIMITED"
  /** The nonce of a signed request was used before, or its deadline is over or too far off. */
  | "NONCE_REFUSED"
  | "REGISTRY_CLOSED";

export class RegistryError extends SottoError {
  override readonly name = "RegistryError";
  declare readonly code: RegistryErrorCode;

  constructor(code: RegistryErrorCode, message: string, details?: ErrorDetails, options?: { cause?: unknown }) {
    super(code, message, details, options);
  }
}
