// Serves x402 and sotto's own format on one route: a challenge offers both, and a payment is accepted once in either.
import type { Network } from "../types.ts";
import { assertRoutesFit, shortened } from "./required-header.ts";

/** The published packages' view of a request. */
interface Adapter {
  getHeader(name: string): string | undefined;
  getMethod(): string;
  getPath(): string;
  getUrl(): string;
  getAcceptHeader(): string;
  getUserAgent(): string;
}

interface RequestContext {
  readonly adapter: Adapter;
  readonly path: string;
  readonly method: string;
  readonly decodedPath: string;
}

/** The part of the published x402HTTPResourceServer that this package uses. */
export interface HttpResourceServer {
  /** The configuration of its routes: of a single one, or by method and path. */
  readonly routes?: unknown;
  /** Finds the schemes of routes. */
  readonly server?: { getRegisteredScheme(network: Network, scheme: string): unknown };
  /** Whether a request is to a route with a price. */
  requiresPayment(context: RequestContext): boolean;
  /** Checks a request's payment, or makes the 402 with its headers. */
  processHTTPRequest(
    context: RequestContext,
  ): Promise<{ readonly type: string; readonly response?: { readonly headers: Readonly<Record<string, string>> } }>;
}

export const REQUIRED = "payment-required";
const PAYMENT = "payment-signature";

export function contextOf(method: string, path: string, url: string): RequestContext {
  const adapter: Adapter = {
    // Without headers the published server always returns the challenge, and never a page for browsers.
    getHeader: () => undefined,
    getMethod: () => method,
    getPath: () => path,
    getUrl: () => url,
    getAcceptHeader: () => "",
    getUserAgent: () => "",
  };
  return { adapter, path, method, decodedPath: decoded(path) };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

interface ExpressRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

type Middleware<Q, S> = (request: Q, response: S, next: (error?: unknown) => void) => unknown;

/**
 * Express middleware: passes x402 payments to the published middleware, and every other request to the paywall. If the
 * published middleware refuses a payment, its challenge is shortened like that of `x402Method`.
 * @param http the server behind the published middleware, which gets only the requests that it protects, because it
 *   serves all others without payment
 * @throws X402SchemeError X402_OPTION_INVALID if the listing of a route does not fit into the headers of a 402
 */
export function bothFormats<Q extends ExpressRequest, S>(
  http: Pick<HttpResourceServer, "requiresPayment" | "routes" | "server">,
  x402: Middleware<Q, S>,
  paywall: Middleware<Q, S>,
): Middleware<Q, S> {
  assertRoutesFit(http.routes, (network, scheme) => http.server?.getRegisteredScheme(network, scheme));
  return (request, response, next) => {
    const { method, path, headers } = request;
    const isX402 = headers[PAYMENT] !== undefined && http.requiresPayment(contextOf(method, path, path));
    if (!isX402) return paywall(request, response, next);
    shortenOn(response);
    return x402(request, response, next);
  };
}

/** Shortens the challenge with which the published middleware refuses a payment. */
function shortenOn(response: unknown): void {
  const target = Object(response) as { setHeader?: unknown };
  const { setHeader } = target;
  if (typeof setHeader !== "function") return;
  target.setHeader = (name: string, value: unknown) => {
    const short = name.toLowerCase() === REQUIRED && typeof value === "string" ? shortened(value) : value;
    return short === undefined ? response : setHeader.call(response, name, short);
  };
}
