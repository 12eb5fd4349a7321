/** A request as it came, before anyone decoded or normalised it. */
export interface PaywallRequest {
  /** Upper case, as on the wire. */
  readonly method: string;
  /** The request target, path and query exactly as received. */
  readonly target: string;
  /** Every value of a header that was sent, in order; `name` in lower case. */
  header(name: string): readonly string[];
}
