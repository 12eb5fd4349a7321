// Serves x402 and sotto's own format on one route: a challenge offers both, and a payment is accepted once in either.

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
  /** Whether a request is to a route with a price. */
  requiresPayment(context: RequestContext): boolean;
  /** Checks a request's payment, or makes the 402 with its headers. */
  processHTTPRequest(
    context: RequestContext,
  ): Promise<{ readonly type: string; readonly response?: { readonly headers: Readonly<Record<string, string>> } }>;
}

/** A challenge of @sotto/resource-server. */
export interface PaywallChallenge {
  /** The request without a payment. `header` returns all values of a header, none if it is missing. */
  readonly request: { readonly method: string; readonly path: string; header(name: string): readonly string[] };
  /** The URL that the payment is for. */
  readonly resource: string;
}

const REQUIRED = "payment-required";
const PAYMENT = "payment-signature";

function contextOf(method: string, path: string, url: string): RequestContext {
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

/**
 * Returns a function for a paywall's `onChallenge` that adds the published server's challenge for the same request to
 * sotto's own.
 */
export function x402Challenge(http: HttpResourceServer) {
  return async ({ request, resource }: PaywallChallenge): Promise<Record<string, string>> => {
    const { response } = await http.processHTTPRequest(contextOf(request.method, request.path, resource));
    const [, header] = Object.entries(response?.headers ?? {}).find(([name]) => name.toLowerCase() === REQUIRED) ?? [];
    if (header === undefined) return {};
    return {
      "PAYMENT-REQUIRED": header,
      vary: "PAYMENT-SIGNATURE",
      "access-control-expose-headers": "PAYMENT-REQUIRED, PAYMENT-RESPONSE",
    };
  };
}

/** A request of Express. */
interface ExpressRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

type Middleware<Q, S> = (request: Q, response: S, next: (error?: unknown) => void) => unknown;

/**
 * Express middleware: passes x402 payments to the published middleware, and every other request to the paywall.
 * @param http the server behind the published middleware, which gets only the requests that it protects, because it
 *   serves all others without payment
 */
export function bothFormats<Q extends ExpressRequest, S>(
  http: Pick<HttpResourceServer, "requiresPayment">,
  x402: Middleware<Q, S>,
  paywall: Middleware<Q, S>,
): Middleware<Q, S> {
  return (request, response, next) => {
    const { method, path, headers } = request;
    const isX402 = headers[PAYMENT] !== undefined && http.requiresPayment(contextOf(method, path, path));
    return isX402 ? x402(request, response, next) : paywall(request, response, next);
  };
}
