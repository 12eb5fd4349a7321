// Shared by the adapters for node:http servers.
import type { IncomingMessage, ServerResponse } from "node:http";
import { isBytes } from "@sotto/protocol";
import type { PaywallRequest, ResponseEnd } from "../paywall/types.ts";
import { BODY_MS } from "./body.ts";
import { createEndReport, type Paid } from "./end.ts";
import { isPaidStatus, mergedHeader, privateCaching } from "./headers.ts";

/** The body as far as a body parser in front of the paywall has read it. */
function parsedBody(request: IncomingMessage): Uint8Array | undefined {
  const { body } = request as { body?: unknown };
  if (!request.readableEnded || body === undefined) return undefined;
  if (isBytes(body)) return body;
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}

/** Reads a body without closing the connection if it is too large, so that the client gets the response. */
function readBody(request: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const parsed = parsedBody(request);
  return new Promise((resolve, reject) => {
    const parts: Uint8Array[] = [];
    let length = 0;
    const end = (error?: Error) => {
      clearTimeout(timer);
      request.off("data", add).off("end", complete).off("error", end).off("close", cut);
      if (error === undefined) resolve(Buffer.concat(parts));
      else reject(error);
    };
    const add = (part: Uint8Array) => {
      length += part.length;
      if (length > maxBytes) end(new Error("the body is too large"));
      else parts.push(part);
    };
    const complete = () => end();
    const cut = () => end(new Error("the body is incomplete"));
    const timer = setTimeout(() => end(new Error("the body did not arrive in time")), BODY_MS);
    timer.unref();
    if (parsed !== undefined) {
      add(parsed);
      complete();
    } else if (request.readableEnded || request.destroyed) cut();
    else request.on("data", add).on("end", complete).on("error", end).on("close", cut);
  });
}

/** Replaces a header before handlers and loggers see it; no lines remove it. */
export function replaceHeader(request: IncomingMessage, name: string, lines: readonly string[]): void {
  const { headers } = request;
  if (headers[name] === undefined) return;
  // Node builds it from `rawHeaders` when it is read first, so this comes before the splice.
  const { headersDistinct } = request;
  delete headers[name];
  // Requests of HTTP/2 do not have it.
  if (headersDistinct !== undefined) delete headersDistinct[name];
  const { rawHeaders } = request;
  for (let i = rawHeaders.length - 2; i >= 0; i -= 2)
    if (rawHeaders[i]!.toLowerCase() === name) rawHeaders.splice(i, 2);
  if (lines.length === 0) return;
  headers[name] = lines.join(", ");
  if (headersDistinct !== undefined) headersDistinct[name] = [...lines];
  for (const line of lines) rawHeaders.push(name, line);
}

/** In HTTP/2, the stream knows when the body ends; the request's own `complete` is true only after it has been read. */
interface Http2Request {
  readonly stream?: { readonly endAfterHeaders: boolean; readonly readableEnded: boolean };
}

/**
 * Reads a body and puts it back, so that the handler can read it.
 * @returns undefined if it is longer, was read already, or does not arrive in time
 */
function peekBody(request: IncomingMessage, maxBytes: number): Promise<Uint8Array | undefined> {
  const { "content-length": length, "transfer-encoding": encoding } = request.headers;
  const { stream } = request as Http2Request;
  // Requests of HTTP/2 may have a body without either.
  const isEmpty = stream === undefined ? length === undefined && encoding === undefined : stream.endAfterHeaders;
  if (isEmpty || length === "0") return Promise.resolve(new Uint8Array());
  if (request.readableEnded || request.destroyed || Number(length) > maxBytes) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const parts: Uint8Array[] = [];
    let bytes = 0;
    const end = (isComplete: boolean) => {
      clearTimeout(timer);
      request.off("readable", read).off("error", fail).off("close", fail);
      const body = Buffer.concat(parts);
      // In the tick that read the last part: Node has not emitted "end" yet, and does not before this is read again.
      if (body.length > 0 && !request.readableEnded && !request.destroyed) request.unshift(body);
      resolve(isComplete ? body : undefined);
    };
    const read = () => {
      while (request.readableLength > 0 && bytes <= maxBytes) {
        const part: Uint8Array = request.read();
        bytes += part.length;
        parts.push(part);
      }
      if (bytes > maxBytes) end(false);
      else if ((request.complete || stream?.readableEnded === true) && request.readableLength === 0) end(true);
    };
    const fail = () => end(false);
    const timer = setTimeout(fail, BODY_MS);
    timer.unref();
    request.on("readable", read).on("error", fail).on("close", fail);
    // What has arrived already may cause no further event.
    read();
  });
}

/**
 * @param target as the client sent it; frameworks that mount or rewrite change `request.url`
 * @param client the client's address; frameworks read it from X-Forwarded-For if they trust the proxy
 */
export function nodeRequest(
  request: IncomingMessage,
  target: string,
  client: string | undefined = request.socket?.remoteAddress,
): PaywallRequest {
  // Not `headers`: Node joins repeated headers with ", ", which would combine two halves into one proof.
  const values = (name: string): string[] => {
    const { rawHeaders } = request;
    const found: string[] = [];
    for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
      const other = rawHeaders[i]!;
      if (other.length === name.length && other.toLowerCase() === name) found.push(rawHeaders[i + 1]!);
    }
    return found;
  };
  const header = (name: string) => values(name.toLowerCase());
  const body = (maxBytes: number) => readBody(request, maxBytes);
  const peek = (maxBytes: number) => peekBody(request, maxBytes);
  return { method: request.method ?? "GET", target, header, client, body, peekBody: peek };
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

type Http2Stream = Pick<ServerResponse, "once" | "writableFinished"> & { readonly aborted: boolean };

/**
 * Calls back once all of a response was handed to the connection, or the connection was lost before that. The first call
 * counts.
 */
export function onEnd(response: ServerResponse, callback: (end: ResponseEnd) => void): void {
  const { stream } = response as { stream?: Http2Stream };
  if (stream === undefined) {
    response.once("finish", () => callback("complete")).once("close", () => callback("cut"));
    return;
  }
  // In HTTP/2, both emit "finish" also if they are cut off, and a stream without a body does not emit it at all.
  const end = () => callback(stream.writableFinished && !stream.aborted ? "complete" : "cut");
  stream.once("finish", end);
  response.once("close", end);
}

/**
 * Reports to the paywall, once, how a paid request ended: with its status when the headers are written, or "aborted" if
 * the connection closed before that. It does not wait for the end of the response: a failure is known before
 * the client can retry, and a slow reader cannot outlast the claim. What depends on the end of the response learns it after that.
 */
export function reportOutcome(response: ServerResponse, { finish, ended, receipt, finalHeaders }: Paid): void {
  let reported = false;
  const report = (outcome: number | "aborted"): void => {
    if (reported) return;
    reported = true;
    void finish(outcome);
  };
  // `end` writes the headers of a response that has none yet, which is then known as a whole.
  let isWhole = false;
  if (finalHeaders !== undefined) {
    const end: (...parts: unknown[]) => ServerResponse = response.end.bind(response) as never;
    response.end = ((...parts: unknown[]) => {
      isWhole = true;
      return end(...parts);
    }) as typeof response.end;
  }
  const writeHead: (...parts: unknown[]) => ServerResponse = response.writeHead.bind(response) as never;
  response.writeHead = ((status: number, ...rest: unknown[]) => {
    if (receipt !== undefined && isPaidStatus(status) && !response.headersSent)
      rest = withReceipt(response, receipt, rest);
    if (isWhole && finalHeaders !== undefined && status >= 200 && !response.headersSent)
      setHeaders(response, finalHeaders(status));
    const written = writeHead(status, ...rest);
    if (status >= 200) report(status);
    return written;
  }) as typeof response.writeHead;
  // HTTP/2 responses can start without writeHead, and emit "finish" even if they are cut off.
  const end = () => report(response.headersSent ? response.statusCode : "aborted");
  response.on("finish", end).on("close", end);
  const reportEnd = createEndReport(ended);
  if (reportEnd === undefined) return;
  onEnd(response, (how) => {
    end();
    reportEnd(how);
  });
}

/** The headers that `writeHead` was given: an object, or names and values in turn. */
function linesOf(given: object): [name: string, value: string][] {
  if (!Array.isArray(given)) return Object.entries(given);
  const flat = given as string[];
  return flat.flatMap((name, i) => (i % 2 === 0 ? [[name, flat[i + 1]!] as [string, string]] : []));
}

/**
 * Adds a receipt to the headers of a response.
 * @param rest of the arguments of `writeHead`: perhaps a message, and headers as an object or as a list
 * @returns these arguments
 */
function withReceipt(response: ServerResponse, receipt: Readonly<Record<string, string>>, rest: unknown[]): unknown[] {
  const message = rest.filter((one) => typeof one === "string").slice(0, 1);
  const given = rest.find((one) => typeof one === "object" && one !== null);
  const lines = linesOf(given ?? {});
  // As with writeHead, they replace those that were set before, and a list may repeat a name.
  for (const [name] of lines) response.removeHeader(name);
  for (const [name, value] of lines) response.appendHeader(name, value);
  for (const [name, value] of Object.entries(receipt)) response.setHeader(name, value);
  response.setHeader("cache-control", privateCaching(response.getHeader("cache-control")));
  return message;
}
