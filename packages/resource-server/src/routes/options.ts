import type { PaywallRequest } from "./request.ts";

/** Whole tokens as decimal text ("0.05"), or base units as a bigint. Numbers are refused: 0.1 is not exact. */
export type Price = string | bigint;

/** Asked for every request, paid or not, and may be asynchronous. "free" needs no payment. */
export type PriceOf = (request: PricedRequest) => Price | "free" | Promise<Price | "free">;

/** A request as prices and free routes are judged: by what every framework takes it for. */
export interface PricedRequest extends PaywallRequest {
  /** Path of the target, decoded. Targets that can be read in two ways never get here. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/** Which requests: a path, `/reports/:id` with one segment left open, or `/reports/*` for all below; of one method or all. */
export interface RoutePattern {
  readonly path: string;
  /** Upper case; left out or "*": all. GET stands for HEAD too. */
  readonly method?: string;
}

/** Matches whatever the letter case, and with or without a slash at the end; `/reports/*` is for /reports too. */
export interface PricedRoute extends RoutePattern {
  readonly price: Price | PriceOf;
}

/** What a paywall charges for each request. */
export interface PriceOptions {
  /** Price of every request that no route names. */
  readonly price: Price | PriceOf;
  /** The first that matches a request says its price. */
  readonly routes?: readonly PricedRoute[];
  /**
   * Requests that need no payment, spelled exactly like this. A path alone frees GET and HEAD. Default: /health,
   * /healthz, /livez and /readyz.
   */
  readonly free?: readonly (string | RoutePattern)[];
}
