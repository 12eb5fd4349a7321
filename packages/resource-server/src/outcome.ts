// How a check ends that is not passed. Both are 402 with the same body: "any exception during verification counts as a
// failed check". What differs is whether the same header may pass later, which only its sender is told, by Retry-After.

/** The checks, by what they found. For the operator's metrics; a client is never told. */
export type Failure =
  | "HEADER"
  | "RECIPIENT"
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

/** A check was made and failed. */
export class CheckFailed extends Error {
  override readonly name = "CheckFailed";
  readonly failure: Failure;
  /** Seconds after which the same header may pass; undefined: never. */
  readonly retryAfter: number | undefined;

  constructor(failure: Failure, retryAfter?: number) {
    super(failure);
    this.failure = failure;
    this.retryAfter = retryAfter;
  }
}

/** A check could not be made: nothing is known of the payment, and its payer must not take it for lost. */
export class CheckUnavailable extends Error {
  override readonly name = "CheckUnavailable";
  readonly code: string;
  readonly retryAfter: number;

  constructor(code: string, retryAfter = 5, cause?: unknown) {
    super(code, { cause });
    this.code = code;
    this.retryAfter = retryAfter;
  }
}
