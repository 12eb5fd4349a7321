import { readBody, SottoError } from "@sotto/protocol";
import { hashText } from "../purchase/hash.ts";
import { FetchError } from "./errors.ts";
import { carries, type PaymentHeader } from "./payment-header.ts";
import { assertNotObjectText, createRequest, isRequest } from "./request.ts";

/** A request that can be sent more than once. */
export interface Call {
  readonly method: string;
  /** Without fragment. */
  readonly url: URL;
  readonly signal: AbortSignal | undefined;
  /** Hash of method, URL and body: equal requests have the same fingerprint. Of a form, its entries are hashed. */
  readonly fingerprint: string;
  /** Whether the request already has a payment. */
  readonly carriesPayment: boolean;
  /** The body as it is sent; undefined if there is none. */
  readonly body: Uint8Array<ArrayBuffer> | undefined;
  /** Whether the caller's request lacks this header. */
  isFree(header: string): boolean;
  /** @throws FetchError HEADER_TAKEN if the caller's request has this header, which a payment would replace */
  assertFree(header: string): void;
  /** Sends the request. With `payment`, the request carries that header and follows no redirects. */
  send(payment?: CallPayment): Promise<Response>;
  /** Sends a request without a body as a GET, without a payment. */
  sendAsGet(): Promise<Response>;
}

/** A header that pays, and the URL it pays for. */
export interface CallPayment {
  /** The header's name. */
  readonly name: string;
  /** The header's value. */
  readonly value: string;
  /** URL of the resource, at the call's origin. */
  readonly url: URL;
  /** Further headers that the payment needs, by name. Default: none. */
  readonly also?: Readonly<Record<string, string>> | undefined;
}

/** What is particular to calls of one paying fetch. */
export interface CaptureOptions {
  /** Payments of requests; a request that has one of them is paid for already. Default: the private payment's header. */
  readonly headers?: readonly PaymentHeader[];
  /** Headers that each request gets unless it has them. Default: none. */
  readonly asks?: Readonly<Record<string, string>>;
}

/** The header of the private payment. */
export const PROOF_HEADER = "x-payment-proof";

/**
 * Captures a request and reads its body into memory, because the request is sent again after a 402.
 * @throws FetchError BODY_TOO_LARGE, BODY_NOT_REPLAYABLE, REQUEST_NOT_SUPPORTED; TypeError, like fetch, for other
 *   invalid arguments
 */
export async function captureCall(
  send: typeof fetch,
  input: string | URL | Request,
  init: RequestInit,
  bodyLimit: number,
  { headers = [PROOF_HEADER], asks = {} }: CaptureOptions = {},
): Promise<Call> {
  const signal = init.signal ?? (isRequest(input) ? input.signal : undefined);
  signal?.throwIfAborted();
  if (init.body != null && typeof init.body === "object" && "locked" in init.body && init.body.locked)
    throw new FetchError("BODY_NOT_REPLAYABLE", "the request's body is a stream that is locked to another reader");
  const request = createRequest(input, init);
  const body = await bodyOf(request, bodyLimit);
  if (body !== undefined) assertNotObjectText(body, init.body);
  const url = new URL(request.url);
  url.hash = "";
  const { method, credentials, cache, integrity, keepalive, redirect, referrerPolicy } = request;
  const { duplex: _, body: __, ...given } = init as RequestInit & { duplex?: string };
  const common = { ...given, credentials, cache, integrity, keepalive, redirect, referrerPolicy };
  const text = `${method} ${url.href} ${body === undefined ? "" : await bodyHash(body, request.headers)}`;
  const isFree = (header: string) => !request.headers.has(header);
  const assertFree = (header: string) => {
    if (isFree(header)) return;
    throw new FetchError(
      "HEADER_TAKEN",
      `the request has its own header ${header}, which the payment would replace; nothing was sent with a payment; ` +
        "ask the server's operator for a payment in another header",
      { header },
    );
  };
  const sendAs = (method: string, payment?: CallPayment) => {
    const headers = new Headers(request.headers);
    for (const [name, value] of Object.entries(asks)) if (!headers.has(name)) headers.set(name, value);
    if (payment !== undefined) {
      for (const [name, value] of [[payment.name, payment.value] as const, ...Object.entries(payment.also ?? {})]) {
        assertFree(name);
        headers.set(name, value);
      }
    }
    return send(payment?.url.href ?? url.href, {
      ...common,
      method,
      headers,
      body: body ?? null,
      signal: signal ?? null,
      // It is for this resource, so it must not be sent to the target of a redirect.
      ...(payment && ({ redirect: "manual", cache: "no-store" } as const)),
    });
  };
  return {
    method,
    url,
    signal: signal ?? undefined,
    fingerprint: hashText(text),
    carriesPayment: headers.some((header) => carries(request.headers, header)),
    body,
    isFree,
    assertFree,
    send: async (payment) => sendAs(method, payment),
    sendAsGet: () => sendAs("GET"),
  };
}

/**
 * Equal for equal bodies. The platform draws a new boundary each time it serializes a form, so the bytes of a form differ
 * from those of the same form sent again; its entries do not.
 */
async function bodyHash(body: Uint8Array<ArrayBuffer>, headers: Headers): Promise<string> {
  const type = headers.get("content-type") ?? "";
  if (!/^multipart\/form-data\s*;/i.test(type)) return hashText(body);
  const form = await new Response(body, { headers: { "content-type": type } }).formData().catch(() => undefined);
  // The body is not a form, in spite of its type. So no platform serialized it, and its bytes are always the same.
  if (form === undefined) return hashText(body);
  const entries: string[][] = [];
  for (const [name, value] of form)
    entries.push(
      typeof value === "string"
        ? [name, value]
        : [name, value.name, value.type, hashText(new Uint8Array(await value.arrayBuffer()))],
    );
  return hashText(JSON.stringify(entries));
}

async function bodyOf(request: Request, limit: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (request.body === null) return undefined;
  // Firefox has no Request.body: there, a request without a body looks the same as one with an empty body.
  const whole = request.body === undefined ? await request.arrayBuffer() : undefined;
  if (whole?.byteLength === 0) return undefined;
  return readBody(whole === undefined ? request : new Response(whole), limit).catch((cause: unknown) => {
    if (cause instanceof SottoError)
      throw new FetchError(
        "BODY_TOO_LARGE",
        `the request's body has more than ${limit} bytes, the most that is kept to resend after a 402; raise bodyLimit`,
      );
    throw new FetchError("BODY_NOT_REPLAYABLE", "the request's body cannot be read", {}, { cause });
  });
}
