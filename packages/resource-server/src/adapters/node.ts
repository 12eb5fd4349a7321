// Shared by the adapters for node:http servers.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Decision, PaywallRequest } from "../paywall/types.ts";
import { mergedHeader } from "./headers.ts";

export type Paid = Extract<Decision, { kind: "paid" }>;

/** @param target as the client sent it; frameworks that mount or rewrite change `request.url` */
export function nodeRequest(request: IncomingMessage, target: string): PaywallRequest {
  // Not `headers`: Node joins repeated headers with ", ", which would combine two halves into one proof.
  const values = (name: string): string[] => {
    const { rawHeaders } = request;
    return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);
  };
  return { method: request.method ?? "GET", target, header: (name) => values(name.toLowerCase()) };
}

export function setHeaders(response: ServerResponse, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    const before = response.getHeader(name);
    response.setHeader(name, mergedHeader(name, before === undefined ? undefined : String(before), value));
  }
}

/** Whether the client has disconnected, or a response was already sent, for example by the application's timeout. */
export function isEnded(response: ServerResponse): boolean {
  // In HTTP/2 the stream, not the response, has `destroyed`.
  const { stream } = response as { stream?: { destroyed: boolean } };
  const gone = response.destroyed || response.closed || stream?.destroyed === true;
  return gone || response.headersSent || response.writableEnded;
}

/**
 * Reports to the paywall, once, how a paid request ended: with its status when the headers are written, or "aborted" if
 * the connection closed before that. Reporting at the headers means that a client cannot retry before a failure is
 * known, and that a slow reader cannot outlast the claim.
 */
export function reportOutcome(response: ServerResponse, { finish }: Paid): void {
  let reported = false;
  const report = (outcome: number | "aborted"): void => {
    if (reported) return;
    reported = true;
    void finish(outcome);
  };
  const writeHead: (...parts: unknown[]) => ServerResponse = response.writeHead.bind(response) as never;
  response.writeHead = ((status: number, ...rest: unknown[]) => {
    const written = writeHead(status, ...rest);
    if (status >= 200) report(status);
    return written;
  }) as typeof response.writeHead;
  // HTTP/2 responses can start without writeHead, and emit "finish" even if they are cut off.
  for (const event of ["finish", "close"])
    response.once(event, () => report(response.headersSent ? response.statusCode : "aborted"));
}
