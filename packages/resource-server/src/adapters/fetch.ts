// Servers whose handlers take a Request and give a Response: node-server, Bun, Deno, workers.
import type { PaidProof, PaywallRequest } from "../paywall/types.ts";
import { combined, isList } from "./headers.ts";
import { OpeningPaywall, type PaywallSource } from "./open.ts";

/** A handler that is told what the request was paid with: undefined where it was free. */
export type PaidHandler<Rest extends readonly unknown[]> = (
  request: Request,
  payment: PaidProof | undefined,
  ...rest: Rest
) => Response | Promise<Response>;

export interface PaywalledHandler<Rest extends readonly unknown[]> {
  (request: Request, ...rest: Rest): Promise<Response>;
  /** Resolves when payments can be judged; rejects if options are wrong. Free requests pass before. */
  readonly ready: Promise<void>;
  /** Ends what the paywall holds open. A paywall that was passed in is left to who made it. */
  close(): Promise<void>;
}

/**
 * A request without its server. A URL is normalised by whoever made the Request of it, and the handler sees no other;
 * of a header that comes twice, the values are joined by then: two proofs are no JSON, and so are refused.
 */
export function fetchRequest(request: Request): PaywallRequest {
  const { url, method, headers } = request;
  const target = /^[a-z]+:\/\/[^/?#]*([^#]*)/i.exec(url)?.[1] ?? "";
  const values = (name: string): string[] => [headers.get(name)].filter((value) => value !== null);
  return { method, target: target.startsWith("/") ? target : `/${target}`, header: values };
}

/** The paywall's headers that a response of the application still needs; what it says itself stays. */
export function additions(response: Response, headers: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(headers)
    .map(([name, value]) => [name, response.headers.get(name) ?? undefined, value] as const)
    .filter(([name, before]) => before === undefined || isList(name))
    .map(([name, before, value]) => [name, combined(name, before, value)]);
}

function withHeaders(response: Response, headers: Readonly<Record<string, string>>): Response {
  // One of status 0 or 101 cannot be made again.
  if (response.status < 200) return response;
  // Those of a Response that fetch() gave cannot be changed.
  const changed = new Response(response.body, response);
  for (const [name, value] of additions(response, headers)) changed.headers.set(name, value);
  return changed;
}

/**
 * Charges for every request before `handler` gets it.
 *
 *     export default { fetch: withPayment((request, payment) => new Response("paid"), options) };
 */
export function withPayment<Rest extends readonly unknown[]>(
  handler: PaidHandler<Rest>,
  source: PaywallSource,
): PaywalledHandler<Rest> {
  const paywall = new OpeningPaywall(source);
  const serve = async (request: Request, ...rest: Rest): Promise<Response> => {
    const decision = await paywall.decide(fetchRequest(request));
    if (decision.kind === "free") return handler(request, undefined, ...rest);
    if (decision.kind === "refused") return Response.json(decision.body, decision);
    if (request.signal.aborted) {
      // Nobody would get what was paid for: the handler does not run, and the payment can be shown again.
      await decision.finish("aborted");
      return new Response(null, { status: 503 });
    }
    try {
      const response = await handler(request, decision.payment, ...rest);
      // Response.error() has status 0, and a server makes a failure of it.
      const outcome = response.status === 0 ? 500 : response.status;
      await decision.finish(request.signal.aborted ? "aborted" : outcome);
      return withHeaders(response, decision.headers);
    } catch (error) {
      await decision.finish(500);
      throw error;
    }
  };
  return Object.assign(serve, { ready: paywall.ready(), close: () => paywall.close() });
}
