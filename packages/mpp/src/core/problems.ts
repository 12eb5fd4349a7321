// The problem details (RFC 9457) that MPP registers for refusals.

/** Names of the problems, below https://paymentauth.org/problems/. */
export type MppProblem =
  | "payment-required"
  | "malformed-credential"
  | "invalid-challenge"
  | "payment-expired"
  | "verification-failed"
  | "method-unsupported";

const TITLES: Readonly<Record<MppProblem, string>> = {
  "payment-required": "Payment Required",
  "malformed-credential": "Malformed Credential",
  "invalid-challenge": "Invalid Challenge",
  "payment-expired": "Payment Expired",
  "verification-failed": "Verification Failed",
  "method-unsupported": "Method Unsupported",
};

/** Media type of problem details. */
export const PROBLEM_TYPE = "application/problem+json";

/** Problem details without their status, which the body has in any case. */
export interface ProblemDetails {
  readonly type: string;
  readonly title: string;
  /** A sentence for people. */
  readonly detail: string;
  /** Id of the new challenge in the same response. */
  readonly challengeId?: string | undefined;
}

/** Problem details with the title that MPP registers. @param detail a sentence for people */
export const problem = (name: MppProblem, detail: string, challengeId?: string): ProblemDetails => ({
  type: `https://paymentauth.org/problems/${name}`,
  title: TITLES[name],
  detail,
  challengeId,
});
