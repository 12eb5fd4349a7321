/** What a payment can say that is not what was asked for, or not what it says elsewhere. Stable. */
export type MismatchKind =
  /** The amount proof is about other bounds than the price has. */
  | "AMOUNT_BOUNDS"
  /** It names another wallet. */
  | "RECIPIENT_WALLET"
  /** The amount proof is about another shielded address. */
  | "RECIPIENT_ADDRESS"
  /** The proof's signal of the recipient does not open. */
  | "RECIPIENT_SIGNAL"
  /** It is for another URL. */
  | "RESOURCE_URL"
  /** The proof's signal of the resource does not open for this URL, time, chain and pool. */
  | "RESOURCE_SIGNAL"
  /** The two proofs and the ciphertext are not about one amount. */
  | "CIPHERTEXT"
  /** It was made too long ago. */
  | "TOO_OLD"
  /** It was made by a clock that is too far ahead. */
  | "FROM_THE_FUTURE";

/**
 * A check's result when it fails. Checks return it, and do not throw it: each caller has its own code and its own words
 * for what it tells the other side.
 */
export interface Mismatch<Kind extends MismatchKind = MismatchKind> {
  readonly kind: Kind;
  readonly message: string;
}
