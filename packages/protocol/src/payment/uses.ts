/** A payment in a store of used payments. */
export interface PaymentUse {
  /** keccak256 of its signals, which stays the same if the proof's bytes are re-randomised. */
  readonly digest: string;
  /** Nullifier of the spent note, decimal. */
  readonly nullifier: string;
  /** The URL that the payment is for. */
  readonly resource: string;
  /** The payment's timestamp, ms. */
  readonly timestamp: number;
}

/**
 * claimed: this call acquired the claim. busy: another request holds the claim and has not finished. used: the payment
 * was already used. early: the payment's timestamp is before this store's records start, or in the future.
 */
export type PaymentClaim = "claimed" | "busy" | "used" | "early";

/**
 * A store of used payments, shared by all servers of one recipient. A method that fails must throw; it must never
 * accept a payment.
 */
export interface PaymentUses {
  /** Atomically claims a payment for one request. */
  claim(use: PaymentUse): Promise<PaymentClaim>;
  /** Releases the claim of a payment that is not known to be settled: the payer may present the payment again. */
  release(use: PaymentUse): Promise<void>;
  /** Deletes the claim of a payment that can never be settled. */
  reject(use: PaymentUse): Promise<void>;
  /** Marks a settled payment as used, unless `restore` follows. */
  consume(use: PaymentUse): Promise<void>;
  /**
   * Restores a consumed payment after its handler failed: the payer may present the payment again, up to three times in
   * total.
   */
  restore(use: PaymentUse): Promise<void>;
}
