// Reads a service's readiness, and its metrics if the operator publishes them.
import { ANONYMOUS, readBody } from "@sotto/protocol/base";
import { WebError } from "../errors.ts";
import { parseMetrics, type Sample } from "./metrics.ts";
import { unreadable } from "./unreadable.ts";

export interface ServiceCheck {
  readonly name: string;
  readonly ok: boolean;
  /** Why the check failed. */
  readonly code: string | undefined;
}

export interface ServiceStatus {
  readonly ready: boolean;
  readonly checks: readonly ServiceCheck[];
  /** Milliseconds that the request took. */
  readonly elapsed: number;
}

const TIMEOUT_MS = 10_000;
const MAX_STATUS_BYTES = 64 * 1024;
const MAX_METRICS_BYTES = 2 << 20;
const NAME = /^[a-zA-Z][a-zA-Z0-9_]{0,39}$/;
const CODE = /^[A-Z][A-Z0-9_]{0,63}$/;

async function read(url: string, maxBytes: number): Promise<{ status: number; text: string }> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await fetch(url, { ...ANONYMOUS, signal });
    const bytes = await readBody(response, maxBytes, signal);
    return { status: response.status, text: new TextDecoder().decode(bytes) };
  } catch (cause) {
    throw await unreadable(new URL(url), cause);
  }
}

/**
 * @param text body of `/readyz`
 * @throws WebError SERVICE_STATUS_INVALID
 */
export function parseStatus(text: string): Omit<ServiceStatus, "elapsed"> {
  const invalid = () => new WebError("SERVICE_STATUS_INVALID", "the response is not a sotto service's health report");
  let body: Record<string, unknown> = {};
  try {
    body = Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    throw invalid();
  }
  const { ready, checks } = body;
  if (typeof ready !== "boolean" || typeof checks !== "object" || checks === null) throw invalid();
  const found = Object.entries(checks).map(([name, check]) => {
    const { ok, code } = Object(check) as Record<string, unknown>;
    if (!NAME.test(name) || typeof ok !== "boolean") throw invalid();
    return { name, ok, code: typeof code === "string" && CODE.test(code) ? code : undefined };
  });
  return { ready, checks: found };
}

/** @param service base URL @throws WebError PAGE_UNREACHABLE, PAGE_BLOCKED, SERVICE_STATUS_INVALID */
export async function readStatus(service: string): Promise<ServiceStatus> {
  const start = performance.now();
  const { text } = await read(`${service.replace(/\/$/, "")}/readyz`, MAX_STATUS_BYTES);
  const elapsed = performance.now() - start;
  return { ...parseStatus(text), elapsed };
}

/** The metrics, which a proxy usually keeps internal. @returns undefined if they are not public */
export async function readMetrics(service: string): Promise<readonly Sample[] | undefined> {
  try {
    const { status, text } = await read(new URL("/metrics", service).href, MAX_METRICS_BYTES);
    return status === 200 ? parseMetrics(text) : undefined;
  } catch (error) {
    if (error instanceof WebError) return undefined;
    throw error;
  }
}
