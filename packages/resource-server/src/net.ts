// Requests the paywall makes itself: of limited size and time, and never led elsewhere.
import { readBody } from "@sotto/protocol";

export interface Limits {
  /** ms for everything. */
  readonly timeout: number;
  /** Bytes of the body. */
  readonly size: number;
}

/** @throws Error for what is not answered in time and in full */
export async function request(url: string, { timeout, size }: Limits, init: RequestInit = {}) {
  const signal = AbortSignal.timeout(timeout);
  const response = await fetch(url, { ...init, redirect: "error", signal });
  return { status: response.status, body: await readBody(response, size, signal) };
}
