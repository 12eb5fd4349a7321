// What a paywall tells its operator.
import type { Month } from "@sotto/protocol";

/** The names of events. The package of a method adds its own by declaration merging. */
export interface PaywallEventNames {
  /** An attempt to open failed, such as one to reach the chain or the service. The paywall tries again. */
  readonly opening: true;
  /** The paywall opened after a failed attempt. */
  readonly opened: true;
  /** A request without a price. */
  readonly free: true;
  /** A CORS preflight. */
  readonly preflight: true;
  /** A 402 with the terms. */
  readonly challenged: true;
  /** A request that cannot be parsed. */
  readonly malformed: true;
  /** What was shown is not accepted. */
  readonly refused: true;
  /** A private payment passed every check. */
  readonly paid: true;
  /** The outcome of a paid request. */
  readonly finished: true;
  /** A check could not be completed. */
  readonly unavailable: true;
  /** An error of the server's own. */
  readonly trouble: true;
  /** The last month of the addresses begins within 30 days, or has begun. Once a day. */
  readonly addresses: true;
}

/** An event for the operator. It never contains a header, a token, a proof or a client's address. */
export interface PaywallEvent {
  /** What happened; docs/paywall.md describes each value. */
  readonly event: keyof PaywallEventNames;
  /** refused: the check that failed first; opening, unavailable and trouble: the error's code. */
  readonly reason?: string;
  /** addresses: the last month that has an address. */
  readonly month?: Month;
  /** addresses: whole days until the last address ends; below 0 after it. */
  readonly days?: number;
  /** finished: the status, or 0 if the request was aborted. */
  readonly status?: number;
  /** paid: duration of the checks, ms. */
  readonly ms?: number;
  /** opening, unavailable and trouble: for the operator's log. */
  readonly error?: unknown;
}
