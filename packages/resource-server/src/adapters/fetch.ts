// Servers whose handlers take a Request and return a Response: node-server, Bun, Deno, workers.
import { readBody } from "@sotto/protocol";
import type { Payment, PaywallRequest } from "../paywall/types.ts";
import { BODY_MS } from "./body.ts";
import { createEndReport, type Paid, reportUnstarted, withReportedEnd } from "./end.ts";
import { HTML_TYPE, isList, isPaidStatus, mergedHeader, privateCaching } from "./headers.ts";
import { OpeningPaywall, type PaywallSource } from "./open.ts";

/** A handler; `payment` is undefined if the request is free. */
export type PaidHandler<Rest extends readonly unknown[]> = (
  request: Request,
  payment: Payment | undefined,
  ...rest: Rest
) => Response | Promise<Response>;

/** A handler of requests that charges before it calls the application's handler. */
export interface PaywalledHandler<Rest extends readonly unknown[]> {
  (request: Request, ...rest: Rest): Promise<Response>;
  /** Resolves once payments can be checked; rejects if an option is wrong. Free requests pass at once. */
  readonly ready: Promise<void>;
  /** Closes the store and stops the timers. A `Paywall` that you passed in stays open. */
  close(): Promise<void>;
}

/** The Request that the handler gets. Hono's `c.req` is one. */
export interface HeldRequest {
  raw: Request;
}

/**
 * Reads a Request. The URL was normalized when the Request was created, and the handler sees that same URL. `Headers`
 * has joined the values of a repeated header: two joined proofs are not JSON and get 400.
 */
export function fetchRequest(held: HeldRequest): PaywallRequest {
  const { url, method, headers } = held.raw;
  const target = /^[a-z]+:\/\/[^/?#]*([^#]*)/i.exec(url)?.[1] ?? "";
  const header = (name: string): string[] => [headers.get(name)].filter((value) => value !== null);
  const body = (maxBytes: number) => readBody(held.raw, maxBytes, AbortSignal.timeout(BODY_MS));
  const peek = (maxBytes: number) => peekBody(held.raw, maxBytes);
  return { method, target: target.startsWith("/") ? target : `/${target}`, header, body, peekBody: peek };
}

/**
 * Replaces a header before handlers and loggers see it; no lines remove it. Deno's server and workers give requests whose
 * headers are immutable: then the handler gets a new Request, which takes the body with it.
 */
export function replaceHeader(held: HeldRequest, name: string, lines: readonly string[]): void {
  const { raw } = held;
  if (!raw.headers.has(name)) return;
  const replaceIn = (headers: Headers): void =>
    lines.length === 0 ? headers.delete(name) : headers.set(name, lines.join(", "));
  try {
    replaceIn(raw.headers);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const headers = new Headers(raw.headers);
    replaceIn(headers);
    // A body that was read already cannot move. Hono keeps it for its handlers.
    const { url, method, signal, bodyUsed } = raw;
    held.raw = bodyUsed ? new Request(url, { method, headers, signal }) : new Request(raw, { headers });
  }
}

/** Reads a copy of a body, so that the handler can read it. */
async function peekBody(request: Request, maxBytes: number): Promise<Uint8Array | undefined> {
  if (request.bodyUsed || Number(request.headers.get("content-length")) > maxBytes) return undefined;
  if (request.body === null) return new Uint8Array();
  return readBody(request.clone(), maxBytes, AbortSignal.timeout(BODY_MS)).catch(() => undefined);
}

/** Adds the paywall's headers that the application's response does not set itself; merges list headers. */
export function additions(response: Response, headers: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(headers)
    .map(([name, value]) => [name, response.headers.get(name) ?? undefined, value] as const)
    .filter(([name, before]) => before === undefined || isList(name))
    .map(([name, before, value]) => [name, mergedHeader(name, before, value)]);
}

/** The headers that a response gets with its receipt; none if it gets no receipt. */
export function receiptHeaders(response: Response, receipt: Readonly<Record<string, string>> | undefined) {
  if (receipt === undefined || !isPaidStatus(response.status)) return [];
  return Object.entries({ ...receipt, "cache-control": privateCaching(response.headers.get("cache-control")) });
}

/** A body may be a stream, so only a response without one is known as a whole. */
export const finalHeadersOf = (response: Response, { finalHeaders }: Paid) =>
  response.body === null && response.status >= 200 ? (finalHeaders?.(response.status) ?? {}) : {};

/** @param response the result of `withHeaders`, whose headers can be changed */
function withReceipt(response: Response, receipt: Readonly<Record<string, string>> | undefined): Response {
  for (const [name, value] of receiptHeaders(response, receipt)) response.headers.set(name, value);
  return response;
}

function withHeaders(response: Response, headers: Readonly<Record<string, string>>): Response {
  // A Response of status 0 or 101 cannot be constructed.
  if (response.status < 200) return response;
  // Nor one of 600 or more, which fetch() can return: another server's invalid answer is a 502, and like it a failure.
  // The headers of a Response from fetch() are immutable; those of Hono's Response, made from such a one, are too.
  const init = response.status > 599 ? { status: 502, headers: new Headers(response.headers) } : response;
  const changed = new Response(response.body, init);
  for (const [name, value] of additions(response, headers)) changed.headers.set(name, value);
  return changed;
}

/**
 * Charges for every request before it reaches `handler`.
 *
 *     export default { fetch: withPayment((request, payment) => new Response("paid"), options) };
 */
export function withPayment<Rest extends readonly unknown[]>(
  handler: PaidHandler<Rest>,
  source: PaywallSource,
): PaywalledHandler<Rest> {
  const paywall = new OpeningPaywall(source);
  const serve = async (request: Request, ...rest: Rest): Promise<Response> => {
    const held = { raw: request };
    const decision = await paywall.decide(fetchRequest(held), (name, lines) => replaceHeader(held, name, lines));
    if (decision.kind === "free") {
      const response = await handler(held.raw, undefined, ...rest);
      return decision.headers === undefined ? response : withHeaders(response, decision.headers);
    }
    if (decision.kind === "preflight") return new Response(null, { status: 204, headers: decision.headers });
    if (decision.kind === "refused") {
      const { page, status, headers, contentType } = decision;
      const type = contentType === undefined ? {} : { "content-type": contentType };
      if (page === undefined) return Response.json(decision.body, { status, headers: { ...headers, ...type } });
      return new Response(page, { status, headers: { ...headers, "content-type": HTML_TYPE } });
    }
    if (decision.kind === "answered") return new Response(decision.body, decision);
    if (request.signal.aborted) {
      await reportUnstarted(decision);
      return new Response(null, { status: 503 });
    }
    const reportEnd = createEndReport(decision.ended);
    if (reportEnd !== undefined) request.signal.addEventListener("abort", () => reportEnd("cut"), { once: true });
    try {
      const response = await handler(held.raw, decision.payment, ...rest);
      // Response.error() has status 0; servers treat it as a failure.
      const outcome = response.status === 0 ? 500 : response.status;
      await decision.finish(request.signal.aborted ? "aborted" : outcome);
      const headers = { ...decision.headers, ...finalHeadersOf(response, decision) };
      const sent = withReceipt(withHeaders(response, headers), decision.receipt);
      return reportEnd === undefined ? sent : withReportedEnd(sent, request.method, reportEnd);
    } catch (error) {
      await decision.finish(500);
      reportEnd?.("cut");
      throw error;
    }
  };
  return Object.assign(serve, { ready: paywall.ready(), close: () => paywall.close() });
}
