import { codeOf } from "../errors.ts";
import { CheckFailed, CheckUnavailable } from "../outcome.ts";
import type { PaywallEvent } from "./events.ts";

/**
 * Tells the operator why a check did not pass.
 * @returns seconds after which the same header may pass; undefined if it never will
 */
export function reportRefusal(error: unknown, report: (event: PaywallEvent) => void): number | undefined {
  if (error instanceof CheckFailed) {
    report({ event: "refused", reason: error.failure });
    return error.retryAfter;
  }
  // "Any exception during verification counts as a failed check"; Retry-After asks the client to retry.
  report({ event: "unavailable", reason: codeOf(error), error });
  return error instanceof CheckUnavailable ? error.retryAfter : 5;
}
