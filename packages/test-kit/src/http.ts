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

/** The token's claims, not verified. */
export function claimsOf(token: unknown): Record<string, unknown> {
  const [, payload = ""] = String(token).split(".");
  return JSON.parse(Buffer.from(payload, "base64url").toString());
}
