// Express 4 and 5, Connect, and whatever else takes (request, response, next).
import type { IncomingMessage, ServerResponse } from "node:http";
import type { PaidProof } from "../paywall/types.ts";
import { follow, isOver, nodeRequest, setHeaders } from "./node.ts";
import { OpeningPaywall, type PaywallSource } from "./open.ts";

declare global {
  namespace Express {
    interface Request {
      /** What this request was paid with; undefined where it was free. */
      payment?: PaidProof;
    }
  }
}

/** A request of Express; Connect's has no `originalUrl` of its own where nothing is mounted. */
export interface PaidRequest extends IncomingMessage {
  originalUrl?: string;
  payment?: PaidProof;
}

export interface PaywallMiddleware {
  (request: PaidRequest, response: ServerResponse, next: (error?: unknown) => void): void;
  /** Resolves when payments can be judged; rejects if options are wrong. Free requests pass before. */
  readonly ready: Promise<void>;
  /** Ends what the paywall holds open. A paywall that was passed in is left to who made it. */
  close(): Promise<void>;
}

/**
 * Charges for every request that passes it. Put it on the routes that are for sale: in front of everything it charges
 * for missing pages too.
 *
 *     app.get("/report", sotto(options), sendReport);
 */
export function sotto(source: PaywallSource): PaywallMiddleware {
  const paywall = new OpeningPaywall(source);
  /** @returns whether what comes after may run */
  const admit = async (request: PaidRequest, response: ServerResponse): Promise<boolean> => {
    const decision = await paywall.decide(nodeRequest(request, request.originalUrl ?? request.url ?? "/"));
    if (decision.kind === "free") return true;
    if (decision.kind === "refused") {
      if (isOver(response)) return false;
      const body = JSON.stringify(decision.body);
      setHeaders(response, decision.headers);
      response.setHeader("content-type", "application/json; charset=utf-8");
      response.setHeader("content-length", Buffer.byteLength(body));
      response.writeHead(decision.status).end(body);
      return false;
    }
    if (isOver(response)) {
      // Nobody would get what was paid for: the handler does not run, and the payment can be shown again.
      await decision.finish("aborted");
      return false;
    }
    setHeaders(response, decision.headers);
    follow(response, decision);
    request.payment = decision.payment;
    return true;
  };
  return Object.assign(
    (request: PaidRequest, response: ServerResponse, next: (error?: unknown) => void) => {
      // Errors of what comes after are not the paywall's: next is called outside of the promise.
      admit(request, response).then(
        (admitted) => admitted && next(),
        () => response.destroy(),
      );
    },
    { ready: paywall.ready(), close: () => paywall.close() },
  );
}
