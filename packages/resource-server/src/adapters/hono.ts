// Hono 4, on any runtime.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context, MiddlewareHandler, Next } from "hono";
import type { PaidProof, PaywallRequest } from "../paywall/types.ts";
import { additions, fetchRequest } from "./fetch.ts";
import { combined } from "./headers.ts";
import { isOver, nodeRequest } from "./node.ts";
import { OpeningPaywall, type PaywallSource } from "./open.ts";

declare module "hono" {
  interface ContextVariableMap {
    /** What this request was paid with; undefined where it was free. */
    payment: PaidProof | undefined;
  }
}

export interface PaywallMiddleware extends MiddlewareHandler {
  /** Resolves when payments can be judged; rejects if options are wrong. Free requests pass before. */
  readonly ready: Promise<void>;
  /** Ends what the paywall holds open. A paywall that was passed in is left to who made it. */
  close(): Promise<void>;
}

/** What node-server puts into `c.env`. */
interface NodeBindings {
  readonly incoming?: IncomingMessage;
  readonly outgoing?: ServerResponse;
}

const bindings = (c: Context): NodeBindings => (typeof c.env === "object" && c.env !== null ? c.env : {});

/** The target is the one Hono routes by; on node-server, each value of a header can be seen. */
function honoRequest(c: Context): PaywallRequest {
  const request = fetchRequest(c.req.raw);
  const { incoming } = bindings(c);
  return incoming === undefined ? request : { ...request, header: nodeRequest(incoming, request.target).header };
}

function isLost(c: Context): boolean {
  const { outgoing } = bindings(c);
  return outgoing === undefined ? c.req.raw.signal.aborted : isOver(outgoing);
}

function outcomeOf(c: Context): number | "aborted" {
  const { outgoing } = bindings(c);
  // A handler may have answered by itself, past Hono.
  if (outgoing?.headersSent === true) return outgoing.statusCode;
  return isLost(c) ? "aborted" : c.res.status;
}

function setHeaders(c: Context, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers))
    c.header(name, combined(name, c.res.headers.get(name) ?? undefined, value));
}

/**
 * Charges for every request that passes it. Put it on the routes that are for sale: in front of everything it charges
 * for missing pages too.
 *
 *     app.get("/report", sotto(options), sendReport);
 */
export function sotto(source: PaywallSource): PaywallMiddleware {
  const paywall = new OpeningPaywall(source);
  const middleware = async (c: Context, next: Next): Promise<Response | undefined> => {
    const decision = await paywall.decide(honoRequest(c));
    if (decision.kind === "refused") {
      setHeaders(c, decision.headers);
      return c.json(decision.body, decision.status);
    }
    if (decision.kind === "free") {
      await next();
      return;
    }
    if (isLost(c)) {
      // Nobody would get what was paid for: the handler does not run, and the payment can be shown again.
      await decision.finish("aborted");
      return c.body(null, 503);
    }
    c.set("payment", decision.payment);
    try {
      await next();
    } catch (error) {
      await decision.finish(500);
      throw error;
    }
    await decision.finish(outcomeOf(c));
    for (const [name, value] of additions(c.res, decision.headers)) c.header(name, value);
    return;
  };
  return Object.assign(middleware, { ready: paywall.ready(), close: () => paywall.close() });
}
