// The two ways in which a check does not pass. Both get 402 with the same body: "any exception during verification
// counts as a failed check". They differ in whether the same header may pass later, which Retry-After tells the client.

/** The check of a private payment that failed. For the operator's metrics; clients never see it. */
export type Failure =
  | "HEADER"
  | "RECIPIENT"
  /** Paid to a shielded address at which no payment of this time counts. */
  | "RECIPIENT_MONTH"
  | "TOO_OLD"
  | "FROM_THE_FUTURE"
  | "BEFORE_START"
  | "TOKEN"
  | "TOKEN_CLAIMS"
  | "BUNDLE"
  | "RECIPIENT_SIGNAL"
  | "RESOURCE_SIGNAL"
  | "CIPHERTEXT"
  | "PROOF"
  | "AMOUNT_PROOF"
  | "AMOUNT"
  | "NOT_SETTLED"
  | "USED"
  | "IN_USE"
  | "TOO_MANY_TRIES";

/** A check was completed and failed. */
export class CheckFailed<F extends string = string> extends Error {
  /** Name of the class. */
  override readonly name = "CheckFailed";
  /** The check, for the operator's metrics; clients never see it. */
  readonly failure: F;
  /** Seconds after which the same header may pass; undefined if it never will. */
  readonly retryAfter: number | undefined;

  constructor(failure: F, retryAfter?: number) {
    super(failure);
    this.failure = failure;
    this.retryAfter = retryAfter;
  }
}

/** A check could not be completed: the payment may be valid, so the client should retry and not pay again. */
export class CheckUnavailable extends Error {
  /** Name of the class. */
  override readonly name = "CheckUnavailable";
  /** Why, for the operator. */
  readonly code: string;
  /** Seconds after which the client should try again. */
  readonly retryAfter: number;

  constructor(code: string, retryAfter = 5, cause?: unknown) {
    super(code, { cause });
    this.code = code;
    this.retryAfter = retryAfter;
  }
}
