// The two ways in which a check does not pass. Both get 402 with the same body: "any exception during verification
// counts as a failed check". They differ in whether the same header may pass later, which Retry-After tells the client.

/** The check that failed. For the operator's metrics; clients never see it. */
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
  | "TOO_MANY_TRIES"
  | "PREPAID_KEY"
  | "PREPAID_VALUE"
  | "PREPAID_CHALLENGE"
  | "PREPAID_SIGNATURE"
  | "PREPAID_SPENT"
  | "PREPAID_BUSY";

/** A check was completed and failed. */
export class CheckFailed extends Error {
  override readonly name = "CheckFailed";
  readonly failure: Failure;
  /** Seconds after which the same header may pass; undefined if it never will. */
  readonly retryAfter: number | undefined;

  constructor(failure: Failure, retryAfter?: number) {
    super(failure);
    this.failure = failure;
    this.retryAfter = retryAfter;
  }
}

/** A check could not be completed: the payment may be valid, so the client should retry and not pay again. */
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
