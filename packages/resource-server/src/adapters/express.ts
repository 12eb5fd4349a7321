// Express 4 and 5, Connect, and other servers that take middleware of (request, response, next).
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Payment } from "../paywall/types.ts";
import { reportUnstarted } from "./end.ts";
import { HTML_TYPE, JSON_TYPE } from "./headers.ts";
import { isEnded, nodeRequest, replaceHeader, reportOutcome, setHeaders } from "./node.ts";
import { OpeningPaywall, type PaywallSource } from "./open.ts";

declare global {
  namespace Express {
    interface Request {
      /** The payment of this request; undefined if the request is free. */
      payment?: Payment;
    }
  }
}

/** A request of Express. Connect sets `originalUrl` only below a mount point. */
export interface PaidRequest extends IncomingMessage {
  /** The request target before Express rewrote `url`, such as below a mount point. */
  originalUrl?: string;
  /** The client's address, if the framework determines it. */
  ip?: string | undefined;
  /** What was paid; undefined if the route is free. */
  payment?: Payment;
}

/** Express middleware that charges for every request that reaches it. */
export interface PaywallMiddleware {
  (request: PaidRequest, response: ServerResponse, next: (error?: unknown) => void): void;
  /** Resolves once payments can be checked; rejects if an option is wrong. Free requests pass at once. */
  readonly ready: Promise<void>;
  /** Closes the store and stops the timers. A `Paywall` that you passed in stays open. */
  close(): Promise<void>;
}

/**
 * Charges for every request that reaches it. Put it on the paid routes only: in front of the whole application it also
 * charges for missing pages.
 *
 *     app.get("/report", sotto(options), sendReport);
 */
export function sotto(source: PaywallSource): PaywallMiddleware {
  const paywall = new OpeningPaywall(source);
  /** @returns whether the next handler may run */
  const admit = async (request: PaidRequest, response: ServerResponse): Promise<boolean> => {
    const asked = nodeRequest(request, request.originalUrl ?? request.url ?? "/", request.ip);
    const decision = await paywall.decide(asked, (name, lines) => replaceHeader(request, name, lines));
    if (decision.kind === "free") {
      if (decision.headers !== undefined && !isEnded(response)) setHeaders(response, decision.headers);
      return true;
    }
    if (decision.kind === "preflight") {
      if (isEnded(response)) return false;
      setHeaders(response, decision.headers);
      response.writeHead(204).end();
      return false;
    }
    if (decision.kind === "refused") {
      if (isEnded(response)) return false;
      const { page, contentType = JSON_TYPE } = decision;
      const body = page ?? JSON.stringify(decision.body);
      setHeaders(response, decision.headers);
      response.setHeader("content-type", page === undefined ? contentType : HTML_TYPE);
      response.setHeader("content-length", Buffer.byteLength(body));
      response.writeHead(decision.status).end(body);
      return false;
    }
    if (decision.kind === "answered") {
      if (isEnded(response)) return false;
      setHeaders(response, decision.headers);
      response.setHeader("content-length", decision.body.length);
      response.writeHead(decision.status).end(decision.body);
      return false;
    }
    if (isEnded(response)) {
      await reportUnstarted(decision);
      return false;
    }
    setHeaders(response, decision.headers);
    reportOutcome(response, decision);
    request.payment = decision.payment;
    return true;
  };
  return Object.assign(
    (request: PaidRequest, response: ServerResponse, next: (error?: unknown) => void) => {
      // `next` must not reject this promise: errors of later handlers are not the paywall's.
      admit(request, response).then(
        (admitted) => admitted && next(),
        () => response.destroy(),
      );
    },
    { ready: paywall.ready(), close: () => paywall.close() },
  );
}
