import type { Context } from "./context.ts";

/** What one call knows of a purchase beyond its record. A crash loses it, which costs only time. */
export interface Run {
  readonly context: Context;
  /** Digests of attempts that the service will not settle any more, or that should not be sent. */
  readonly ended: Set<string>;
  /** How many times the service refused an attempt and another one may help. */
  refusals: number;
  /** Whether the chain has to be read before the next step, because it may show more than the record. */
  stale: boolean;
}
