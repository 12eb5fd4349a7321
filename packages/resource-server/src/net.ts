// Requests the paywall makes itself: of limited size and time, and never led elsewhere.

export interface Limits {
  /** ms for everything. */
  readonly timeout: number;
  /** Bytes of the body. */
  readonly size: number;
}

async function readBody(response: Response, size: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  // Not `bytes()`: whoever answers says how long it is, and may say it never.
  for await (const part of response.body ?? []) {
    length += part.length;
    if (length > size) throw new Error(`the answer has more than ${size} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** @throws Error for what is not answered in time and in full */
export async function request(url: string, { timeout, size }: Limits, init: RequestInit = {}) {
  const response = await fetch(url, { ...init, redirect: "error", signal: AbortSignal.timeout(timeout) });
  return { status: response.status, body: await readBody(response, size) };
}

export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}
