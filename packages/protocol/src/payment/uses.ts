/** A payment, as a store of used payments knows it. */
export interface PaymentUse {
  /** keccak256 of its ten signals: whatever proof bytes come with them, only these can settle. */
  readonly digest: string;
  /** Decimal. */
  readonly nullifier: string;
  readonly resource: string;
  /** When it was made, ms. */
  readonly timestamp: number;
}

/**
 * claimed: by this call alone. busy: another request claimed it and is not finished. used: for good. early: it was made
 * before this store began to remember, or its timestamp is still ahead.
 */
export type PaymentClaim = "claimed" | "busy" | "used" | "early";

/** Remembers used payments. All servers of one recipient share one store. A method that fails must throw, never accept. */
export interface PaymentUses {
  /** Claims a payment for one request, atomically. */
  claim(use: PaymentUse): Promise<PaymentClaim>;
  /** Releases a claim whose payment is not known to be settled: it may be shown again. */
  release(use: PaymentUse): Promise<void>;
  /** Forgets a claim whose payment can never be settled. */
  reject(use: PaymentUse): Promise<void>;
  /** Consumes a settled payment: it is used, unless the handler fails. */
  consume(use: PaymentUse): Promise<void>;
  /** Restores a consumed payment after its handler failed: it may be shown again, three times in all. */
  restore(use: PaymentUse): Promise<void>;
}
