/** Ways in which a payment can differ from the terms or contradict itself. Stable. */
export type MismatchKind =
  /** The amount proof does not state the price's bounds. */
  | "AMOUNT_BOUNDS"
  /** The payment names another wallet. */
  | "RECIPIENT_WALLET"
  /** The amount proof is for another shielded address. */
  | "RECIPIENT_ADDRESS"
  /** The payment proof's recipient signal does not open for this recipient. */
  | "RECIPIENT_SIGNAL"
  /** The payment is for another URL. */
  | "RESOURCE_URL"
  /** The payment proof's resource signal does not open for this URL, time, chain and pool. */
  | "RESOURCE_SIGNAL"
  /** At least one of the two proofs is for a different ciphertext than the bundle's. */
  | "CIPHERTEXT"
  /** The payment is too old. */
  | "TOO_OLD"
  /** The payment's timestamp is too far in the future. */
  | "FROM_THE_FUTURE";

/**
 * The result of a failed check. Checks return it instead of throwing, so that each caller can report it with its own
 * code and message.
 */
export interface Mismatch<Kind extends MismatchKind = MismatchKind> {
  /** What differs. Stable. */
  readonly kind: Kind;
  /** A sentence for people, which may change between versions. */
  readonly message: string;
}
