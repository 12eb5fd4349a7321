// Hono 4, on any runtime.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context, MiddlewareHandler, Next } from "hono";
import type { Payment, PaywallRequest, ResponseEnd } from "../paywall/types.ts";
import { createEndReport, reportUnstarted, withReportedEnd } from "./end.ts";
import { additions, fetchRequest, finalHeadersOf, receiptHeaders, replaceHeader as replaceInRequest } from "./fetch.ts";
import { HTML_TYPE, mergedHeader } from "./headers.ts";
import { isEnded, nodeRequest, onEnd, replaceHeader, setHeaders as setNodeHeaders } from "./node.ts";
import { OpeningPaywall, type PaywallSource } from "./open.ts";

declare module "hono" {
  interface ContextVariableMap {
    /** The payment of this request; undefined if the request is free. */
    payment: Payment | undefined;
  }
}

/** Hono middleware that charges for every request that reaches it. */
export interface PaywallMiddleware extends MiddlewareHandler {
  /** Resolves once payments can be checked; rejects if an option is wrong. Free requests pass at once. */
  readonly ready: Promise<void>;
  /** Closes the store and stops the timers. A `Paywall` that you passed in stays open. */
  close(): Promise<void>;
}

/** `c.env` on node-server. */
interface NodeBindings {
  readonly incoming?: IncomingMessage;
  readonly outgoing?: ServerResponse;
}

const bindings = (c: Context): NodeBindings => (typeof c.env === "object" && c.env !== null ? c.env : {});

/** The target is the one that Hono uses for routing. On node-server, a repeated header keeps its separate values. */
function honoRequest(c: Context): PaywallRequest {
  const request = fetchRequest(c.req);
  const { incoming } = bindings(c);
  if (incoming === undefined) return request;
  const { header, client } = nodeRequest(incoming, request.target);
  return { ...request, header, client };
}

function replace(c: Context, name: string, lines: readonly string[]): void {
  replaceInRequest(c.req, name, lines);
  const { incoming } = bindings(c);
  if (incoming !== undefined) replaceHeader(incoming, name, lines);
}

function isLost(c: Context): boolean {
  const { outgoing } = bindings(c);
  return outgoing === undefined ? c.req.raw.signal.aborted : isEnded(outgoing);
}

/** Whether the handler writes the response itself, bypassing Hono: by the header of node-server, it may do so later. */
const isSentByHandler = (c: Context): boolean =>
  bindings(c).outgoing?.headersSent === true || c.res.headers.has("x-hono-already-sent");

function outcomeOf(c: Context): number | "aborted" {
  const { outgoing } = bindings(c);
  // A handler may have written the response itself, bypassing Hono.
  if (outgoing?.headersSent === true) return outgoing.statusCode;
  return isLost(c) ? "aborted" : c.res.status;
}

/** How the connection ended. On other runtimes than Node, it shows only that the client is gone. */
function connectionEnd(c: Context): Promise<ResponseEnd> {
  const { outgoing } = bindings(c);
  return new Promise((resolve) => {
    if (outgoing !== undefined) onEnd(outgoing, resolve);
    else c.req.raw.signal.addEventListener("abort", () => resolve("cut"), { once: true });
  });
}

/**
 * Reports the end of a response: "complete" after its outcome, a lost connection at once.
 * @returns a function to call once the outcome was reported
 */
function watchEnd(c: Context, report: (end: ResponseEnd) => void): () => void {
  const connection = connectionEnd(c);
  void connection.then((end) => end === "cut" && report(end));
  return () => {
    if (bindings(c).outgoing === undefined) c.res = withReportedEnd(c.res, c.req.method, report);
    else void connection.then(report);
  };
}

function setHeaders(c: Context, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers))
    c.header(name, mergedHeader(name, c.res.headers.get(name) ?? undefined, value));
}

/**
 * Charges for every request that reaches it. Put it on the paid routes only: in front of the whole application it also
 * charges for missing pages.
 *
 *     app.get("/report", sotto(options), sendReport);
 */
export function sotto(source: PaywallSource): PaywallMiddleware {
  const paywall = new OpeningPaywall(source);
  const middleware = async (c: Context, next: Next): Promise<Response | undefined> => {
    const decision = await paywall.decide(honoRequest(c), (name, lines) => replace(c, name, lines));
    if (decision.kind === "refused") {
      setHeaders(c, decision.headers);
      const { page, status, contentType } = decision;
      const type = contentType === undefined ? {} : { "content-type": contentType };
      return page === undefined
        ? c.json(decision.body, status, type)
        : c.body(page, status, { "content-type": HTML_TYPE });
    }
    if (decision.kind === "preflight") {
      setHeaders(c, decision.headers);
      return c.body(null, 204);
    }
    if (decision.kind === "free") {
      await next();
      for (const [name, value] of additions(c.res, decision.headers ?? {})) c.header(name, value);
      return;
    }
    if (decision.kind === "answered") {
      setHeaders(c, decision.headers);
      return c.body(decision.body, decision.status);
    }
    if (isLost(c)) {
      await reportUnstarted(decision);
      return c.body(null, 503);
    }
    c.set("payment", decision.payment);
    const report = createEndReport(decision.ended);
    const reportEnd = report && watchEnd(c, report);
    try {
      await next();
    } catch (error) {
      // Only of what is not an Error: the application answers errors itself.
      await decision.finish(500);
      report?.("cut");
      throw error;
    }
    await decision.finish(outcomeOf(c));
    const { outgoing } = bindings(c);
    if (outgoing !== undefined && isSentByHandler(c)) {
      // A change of Hono's response would make node-server send that one.
      if (!outgoing.headersSent) setNodeHeaders(outgoing, decision.headers);
    } else {
      const headers = { ...decision.headers, ...finalHeadersOf(c.res, decision) };
      for (const [name, value] of additions(c.res, headers)) c.header(name, value);
      for (const [name, value] of receiptHeaders(c.res, decision.receipt)) c.header(name, value);
    }
    reportEnd?.();
    return;
  };
  return Object.assign(middleware, { ready: paywall.ready(), close: () => paywall.close() });
}
