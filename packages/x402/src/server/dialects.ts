// x402 and sotto's own dialect on one route: the challenge says both, and a payment is taken once, whichever it comes in.

/** What is used of a request by both. */
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

/** The published x402HTTPResourceServer, as far as it is used. */
export interface HttpResourceServer {
  requiresPayment(context: RequestContext): boolean;
  processHTTPRequest(
    context: RequestContext,
  ): Promise<{ readonly type: string; readonly response?: { readonly headers: Readonly<Record<string, string>> } }>;
}

/** A challenge of @sotto/resource-server. */
export interface PaywallChallenge {
  readonly request: { readonly method: string; readonly path: string; header(name: string): readonly string[] };
  /** The URL that is sold. */
  readonly resource: string;
}

const REQUIRED = "payment-required";
const PAYMENT = "payment-signature";

function contextOf(method: string, path: string, url: string): RequestContext {
  const adapter: Adapter = {
    // Only what is asked for is wanted: no header changes that, and no page is made for browsers.
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
 * For a paywall's `onChallenge`: what the published server would ask for the same request, beside
 * `WWW-Authenticate: x402-zk` and the body.
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
interface DialectRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

type Middleware<Q, S> = (request: Q, response: S, next: (error?: unknown) => void) => unknown;

/**
 * Express: payments of x402 go to the published middleware, all else to the paywall.
 * @param http what the middleware was made of: only what it protects is left to it, because what it does not know it
 *   serves for nothing
 */
export function bothDialects<Q extends DialectRequest, S>(
  http: Pick<HttpResourceServer, "requiresPayment">,
  x402: Middleware<Q, S>,
  paywall: Middleware<Q, S>,
): Middleware<Q, S> {
  return (request, response, next) => {
    const { method, path, headers } = request;
    const theirs = headers[PAYMENT] !== undefined && http.requiresPayment(contextOf(method, path, path));
    return theirs ? x402(request, response, next) : paywall(request, response, next);
  };
}
