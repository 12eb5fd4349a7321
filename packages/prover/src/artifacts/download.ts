/** Downloads one file over HTTP: retries, and resumes with a range request after a broken connection. */
import { ANONYMOUS } from "@sotto/protocol/base";
import { ProverError, proverError, throwIfAborted } from "../errors.ts";

/** Timeout of a whole download, ms; the largest file has 50 MB. */
const TIMEOUT_MS = 15 * 60_000;
/** Maximum time without a byte before the connection is aborted, ms. */
const STALL_MS = 30_000;
/** Maximum consecutive attempts without a new byte. */
const ATTEMPTS = 4;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 10_000;
/** Statuses of a server or proxy that is temporarily unavailable. */
const PASSING = [408, 425, 429, 502, 503, 504];
const PARTIAL = 206;
const RANGE_REFUSED = 416;

export interface Download {
  /** URL of the file, also for error messages. */
  url: string;
  fetch: typeof fetch;
  /** Whether to follow redirects. A file from another host must have the same hash. */
  redirect: "follow" | "error";
  /** Maximum bytes of the file. */
  maxBytes: number;
  /** Size of the file, bytes, if known. If fewer bytes arrive, the connection was broken. */
  size: number | undefined;
  /** The first bytes of the file, from an earlier download. */
  part: Uint8Array | undefined;
  /** Checks whether these are the bytes of the file. */
  accept: (bytes: Uint8Array) => Promise<boolean>;
  /** Called after each piece with everything received so far, from the beginning of the file. */
  onBytes?: ((received: Uint8Array, total: number | undefined) => Promise<void>) | undefined;
  signal?: AbortSignal | undefined;
}

/** A failed attempt, after which the download resumes. */
class Broken extends Error {
  readonly pauseMs: number;
  constructor(reason: string, pauseMs = 0) {
    super(reason);
    this.pauseMs = pauseMs;
  }
}

export interface Downloaded {
  bytes: Uint8Array;
  /** False if the server has a different file. */
  accepted: boolean;
}

/** @throws SottoError ARTIFACT_MISSING, ARTIFACT_TOO_LARGE, ARTIFACT_UNREACHABLE, ABORTED */
export async function download(options: Download): Promise<Downloaded> {
  const { url, accept, size, signal } = options;
  const received = new Received(url, options.maxBytes, options.part);
  const end = Date.now() + TIMEOUT_MS;
  let failures = 0;
  // The earlier download was interrupted after its last byte.
  if (received.length > 0 && (await accept(received.bytes()))) return { bytes: received.bytes(), accepted: true };
  for (let best = received.length; ; best = Math.max(best, received.length)) {
    throwIfAborted(signal);
    try {
      const whole = await attempt(received, options, end);
      const bytes = received.bytes();
      if (await accept(bytes)) return { bytes, accepted: true };
      if (size !== undefined && bytes.length < size) throw new Broken("the connection was closed early");
      // All these bytes came in one response, so the server has a different file. Otherwise a part was wrong: restart
      // at 0.
      if (whole) return { bytes, accepted: false };
      received.clear();
      throw new Broken("the parts belong to different files");
    } catch (error) {
      if (!(error instanceof Broken)) throw error;
      throwIfAborted(signal);
      failures = received.length > best ? 1 : failures + 1;
      const pause = Math.max(error.pauseMs, Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), MAX_PAUSE_MS));
      if (failures >= ATTEMPTS || Date.now() + pause > end) throw unreachable(url, error.message);
      await sleep(pause, signal);
    }
  }
}

/**
 * One request.
 * @param end time at which the whole download times out, ms
 * @returns whether the response contains the whole file, not just the rest
 * @throws Broken; SottoError
 */
async function attempt(received: Received, { url, fetch, redirect, size, signal, onBytes }: Download, end: number) {
  const stall = new AbortController();
  const watch = () => setTimeout(() => stall.abort(), STALL_MS);
  let timer = watch();
  const either = signal === undefined ? stall.signal : AbortSignal.any([signal, stall.signal]);
  const headers: Record<string, string> = received.length === 0 ? {} : { range: `bytes=${received.length}-` };
  try {
    const response = await fetch(url, {
      headers,
      redirect,
      // Without the browser's cache: it would keep a second copy, and it cannot complete a range.
      ...ANONYMOUS,
      signal: either,
    });
    const whole = begin(response, received, url);
    const total = size ?? (whole ? lengthOf(response) : undefined);
    await onBytes?.(received.bytes(), total);
    for await (const piece of piecesOf(response)) {
      // The stall timer never fires if the server sends a byte now and then.
      if (Date.now() > end) throw unreachable(url, `not complete within ${TIMEOUT_MS / 60_000} minutes`);
      clearTimeout(timer);
      timer = watch();
      received.add(piece);
      await onBytes?.(received.bytes(), total);
    }
    return whole;
  } catch (error) {
    if (error instanceof Broken || error instanceof ProverError) throw error;
    throw new Broken(stall.signal.aborted ? `no byte within ${STALL_MS / 1000} s` : reasonOf(error));
  } finally {
    clearTimeout(timer);
    stall.abort();
  }
}

/** Checks status and range of a response. @returns whether the response starts at the file's first byte */
function begin(response: Response, received: Received, url: string): boolean {
  const { status, ok, headers, body } = response;
  if (status === 404 || status === 410) throw missing(url, `status ${status}`);
  if (PASSING.includes(status)) {
    const seconds = Number(headers.get("retry-after") ?? 0);
    throw new Broken(`status ${status}`, seconds > 0 ? Math.min(1000 * seconds, MAX_PAUSE_MS) : 0);
  }
  if (status === RANGE_REFUSED && received.length > 0) {
    received.clear();
    throw new Broken("the part is longer than the file");
  }
  if (!ok || body === null) throw unreachable(url, `status ${status}`);
  if (status !== PARTIAL) {
    received.clear();
    return true;
  }
  // A browser shows this header to another origin only if the server exposes it. The hash is checked in any case.
  const range = headers.get("content-range");
  if (range === null || range.startsWith(`bytes ${received.length}-`)) return received.length === 0;
  received.clear();
  throw new Broken("the server sent a different range than requested");
}

/** Size of the body, bytes, if it is not compressed. */
function lengthOf({ headers }: Response): number | undefined {
  const length = Number(headers.get("content-length") ?? Number.NaN);
  return headers.has("content-encoding") || !Number.isSafeInteger(length) ? undefined : length;
}

async function* piecesOf({ body }: Response): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  if (reader === undefined) return;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** The bytes of a file, from its beginning. */
class Received {
  length = 0;
  readonly #url: string;
  readonly #maxBytes: number;
  #bytes: Uint8Array;

  constructor(url: string, maxBytes: number, part: Uint8Array | undefined) {
    this.#url = url;
    this.#maxBytes = maxBytes;
    this.#bytes = new Uint8Array(Math.min(1 << 16, maxBytes));
    if (part !== undefined) this.add(part);
  }

  /** @throws SottoError ARTIFACT_TOO_LARGE */
  add(piece: Uint8Array): void {
    const length = this.length + piece.length;
    if (length > this.#maxBytes) throw tooLarge(this.#url, this.#maxBytes, length);
    if (length > this.#bytes.length) {
      const larger = new Uint8Array(Math.min(this.#maxBytes, Math.max(length, 2 * this.#bytes.length)));
      larger.set(this.bytes());
      this.#bytes = larger;
    }
    this.#bytes.set(piece, this.length);
    this.length = length;
  }

  /** Drops all bytes. Views returned earlier stay valid. */
  clear(): void {
    this.length = 0;
    this.#bytes = new Uint8Array(Math.min(1 << 16, this.#maxBytes));
  }

  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }
}

function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, milliseconds);
    signal?.addEventListener("abort", finish);
  });
}

/** Why a request failed. Node's fetch puts the reason into the error's cause. */
function reasonOf(error: unknown): string {
  const { message, cause } = Object(error) as { message?: unknown; cause?: unknown };
  const { code } = Object(cause) as { code?: unknown };
  return `${String(message ?? error)}${typeof code === "string" ? ` (${code})` : ""}`;
}

export function missing(file: string, reason: string): ProverError {
  return proverError("ARTIFACT_MISSING", `Artifact ${file} is missing (${reason}).`, { file, reason });
}

export function tooLarge(file: string, maxBytes: number, found: number): ProverError {
  const message = `Artifact ${file} is larger than the limit of ${maxBytes} bytes (at least ${found}).`;
  return proverError("ARTIFACT_TOO_LARGE", message, { file, maxBytes, found });
}

/** Whether the server answered with a status that another attempt would not change, so that only this file is out of reach. */
export function isRefusal(error: unknown): boolean {
  const reason = error instanceof ProverError ? error.details["reason"] : undefined;
  const status = /^status (\d+)$/.exec(String(reason))?.[1];
  return status !== undefined && !PASSING.includes(Number(status));
}

export function unreachable(file: string, reason: string): ProverError {
  return proverError("ARTIFACT_UNREACHABLE", `Could not fetch artifact ${file}: ${reason}.`, { file, reason });
}
