import { request } from "node:http";
import { buffer } from "node:stream/consumers";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body. */
  readonly body: Record<string, unknown>;
}

/** Values of any type, because a test may send invalid ones on purpose. */
export async function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  return call(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

export async function call(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, init);
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? {} : JSON.parse(text) };
}

/**
 * Sends a request over a connection of its own. If fetch reuses a connection, the server may just have closed it, because
 * it was idle or because the server refused a request without reading its body.
 */
export const postAlone = (
  url: string,
  headers: Record<string, string>,
  body?: Uint8Array | string,
): Promise<Response> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", agent: false, headers }, (answer) => {
      const init = { status: answer.statusCode ?? 0 };
      buffer(answer)
        .then((bytes) => resolve(new Response(new Uint8Array(bytes), init)))
        .catch(reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });

/** The token's claims, not verified. */
export function claimsOf(token: unknown): Record<string, unknown> {
  const [, payload = ""] = String(token).split(".");
  return JSON.parse(Buffer.from(payload, "base64url").toString());
}
