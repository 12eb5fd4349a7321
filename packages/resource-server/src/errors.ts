import { type ErrorDetails, SottoError } from "@sotto/protocol";

/** Why a paywall does not open. Stable: callers switch on them. What a request is refused for is no error. */
export type PaywallErrorCode =
  /** An option is missing, malformed or out of range; the message names it. */
  | "INVALID_OPTION"
  /** The recipient's signature is not its wallet's over this shielded address, chain and pool. */
  | "RECIPIENT_NOT_SIGNED"
  /** No node answers. */
  | "CHAIN_UNAVAILABLE"
  /** A node is on another chain. */
  | "WRONG_CHAIN"
  /** There is no ShieldedPool at the address, or one of another token. */
  | "POOL_MISMATCH"
  /** The keys that are given are of another set than the pool's. */
  | "SET_MISMATCH"
  /** The service does not answer, or not with what was asked for. */
  | "SERVICE_UNAVAILABLE"
  /** The service's verification key is not the one that is pinned. */
  | "KEY_NOT_PINNED";

export class PaywallError extends SottoError {
  override readonly name = "PaywallError";
  declare readonly code: PaywallErrorCode;

  constructor(code: PaywallErrorCode, message: string, details?: ErrorDetails, options?: { cause?: unknown }) {
    super(code, message, details, options);
  }
}

export function invalidOption(message: string, cause?: unknown): PaywallError {
  return new PaywallError("INVALID_OPTION", message, {}, { cause });
}
