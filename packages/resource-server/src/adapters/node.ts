// What the adapters for servers of node:http have in common.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Decision, PaywallRequest } from "../paywall/types.ts";
import { combined } from "./headers.ts";

export type Paid = Extract<Decision, { kind: "paid" }>;

/** @param target as the client sent it; a framework that mounts or rewrites keeps it beside `request.url` */
export function nodeRequest(request: IncomingMessage, target: string): PaywallRequest {
  // Not `headers`: Node joins what comes twice with ", ", and two halves of a proof would be one.
  const values = (name: string): string[] => {
    const { rawHeaders } = request;
    return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);
  };
  return { method: request.method ?? "GET", target, header: (name) => values(name.toLowerCase()) };
}

export function setHeaders(response: ServerResponse, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    const before = response.getHeader(name);
    response.setHeader(name, combined(name, before === undefined ? undefined : String(before), value));
  }
}

/** Whether there is nobody left to answer, or somebody else did: a time-out of the application, say. */
export function isOver(response: ServerResponse): boolean {
  // An answer of HTTP/2 says of its stream what one of HTTP/1 says of itself.
  const { stream } = response as { stream?: { destroyed: boolean } };
  const gone = response.destroyed || response.closed || stream?.destroyed === true;
  return gone || response.headersSent || response.writableEnded;
}

/**
 * Tells the paywall, once, how a paid request ended: with its status as soon as that is certain, which is when the
 * headers are written (so that a client cannot ask again before a failure is known, and a slow reader cannot outlast the
 * claim), or that the connection went away before.
 */
export function follow(response: ServerResponse, { finish }: Paid): void {
  let told = false;
  const tell = (outcome: number | "aborted"): void => {
    if (told) return;
    told = true;
    void finish(outcome);
  };
  const writeHead: (...parts: unknown[]) => ServerResponse = response.writeHead.bind(response) as never;
  response.writeHead = ((status: number, ...rest: unknown[]) => {
    const written = writeHead(status, ...rest);
    if (status >= 200) tell(status);
    return written;
  }) as typeof response.writeHead;
  // Those of HTTP/2 can begin without writeHead, and are finished when they are cut off.
  for (const event of ["finish", "close"])
    response.once(event, () => tell(response.headersSent ? response.statusCode : "aborted"));
}
