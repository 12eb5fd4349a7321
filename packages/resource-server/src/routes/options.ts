/** A request as it was received, before any decoding or normalization. */
export interface PaywallRequest {
  /** Upper case, as on the wire. */
  readonly method: string;
  /** The request target, path and query exactly as received. */
  readonly target: string;
  /** All values of a header in the order received; `name` in lower case. */
  header(name: string): readonly string[];
  /**
   * Network address of the client, as far as the framework knows it: a method can let clients take turns. Default: all
   * requests are of one client.
   */
  readonly client?: string | undefined;
  /**
   * Reads the body. Called only by methods, at paths of their own; without it they answer 503.
   * @throws Error if the body has more than `maxBytes`, or does not arrive in time
   */
  readonly body?: ((maxBytes: number) => Promise<Uint8Array>) | undefined;
  /**
   * Reads the body and leaves it for the handler. Undefined if it is longer, was read already, or does not arrive in time.
   * Default: no body can be read so.
   */
  readonly peekBody?: ((maxBytes: number) => Promise<Uint8Array | undefined>) | undefined;
}

/** Whole tokens as decimal text ("0.05"), or base units as a bigint. Numbers are refused: 0.1 is not exact. */
export type Price = string | bigint;

/** A price with terms of its own, which a payment method made and understands. Methods get the object as it is. */
export interface Quote {
  /** What a payment must be worth: the highest price of the request, if the final one is known only afterwards. */
  readonly amount: Price;
}

/** A quote of the options that does not depend on the request. */
export interface FixedQuote {
  /** Name of the option, for errors, such as routes[0].price. */
  readonly name: string;
  /** The requests with this quote; undefined for all requests that no route matches. */
  readonly route: RoutePattern | undefined;
  /** The quote, as the options have it. */
  readonly quote: Quote;
}

/** Called for every request, paid or not; may be asynchronous. "free" requires no payment. */
export type PriceOf = (request: PricedRequest) => Price | Quote | "free" | Promise<Price | Quote | "free">;

/** A request with its decoded path and query. */
export interface PricedRequest extends PaywallRequest {
  /** Decoded path of the target. Ambiguous targets are refused earlier. */
  readonly path: string;
  /** Decoded query of the target. */
  readonly query: URLSearchParams;
}

/** Selects requests by path and method. `/reports/:id` matches any one segment, `/reports/*` everything below. */
export interface RoutePattern {
  /** Path with `:name` for one segment, and `*` at the end for the rest: `/reports/:id`, `/archive/*`. */
  readonly path: string;
  /** Upper case, or "*" for all methods. Default: "*". GET includes HEAD. */
  readonly method?: string;
}

/** Ignores letter case and a trailing slash; `/reports/*` also matches /reports. */
export interface PricedRoute extends RoutePattern {
  /** Whole tokens as decimal text, base units as a bigint, a quote of a method, or a function of the request. */
  readonly price: Price | Quote | PriceOf;
}

/** Prices of requests. */
export interface PriceOptions {
  /** Price of every request that no route matches. */
  readonly price: Price | Quote | PriceOf;
  /** The first matching route sets the price. */
  readonly routes?: readonly PricedRoute[];
  /**
   * Requests that need no payment; their spelling must match exactly. A path alone applies to GET and HEAD. Default:
   * /health, /healthz, /livez and /readyz.
   */
  readonly free?: readonly (string | RoutePattern)[];
}
