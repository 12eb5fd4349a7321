import { ANONYMOUS, readBody, SottoError } from "@sotto/protocol";

/** A complete answer. A redirect, which is not followed, has no body; browsers hide its status, which is 302 then. */
export interface Answer {
  /** HTTP status. */
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Limits of a request and its answer. */
export interface AnswerLimits {
  /** Name of the request in error messages. */
  readonly name: string;
  /** Maximum bytes of the answer. */
  readonly maxBytes: number;
  /** Maximum milliseconds for the whole answer: the other side may never finish. */
  readonly timeoutMs: number;
  /** Aborts the request. */
  readonly signal?: AbortSignal | undefined;
}

/** Makes the error for a request without a complete answer. */
export type NoAnswer = (why: "too large" | "timed out" | "unreachable", text: string, cause: unknown) => Error;

/**
 * Sends a request that does not identify the user, and reads its whole answer. Follows no redirect.
 * @throws the error that `failed` makes; the signal's reason
 */
export async function exchange(
  send: typeof fetch,
  url: string,
  init: RequestInit,
  { name, maxBytes, timeoutMs, signal }: AnswerLimits,
  failed: NoAnswer,
): Promise<Answer> {
  signal?.throwIfAborted();
  const timeout = AbortSignal.timeout(timeoutMs);
  const either = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
  try {
    const response = await send(url, { ...init, ...ANONYMOUS, redirect: "manual", signal: either });
    const { status, headers } = response;
    if (response.type !== "opaqueredirect" && !(status >= 300 && status < 400))
      return { status, headers, body: await readBody(response, maxBytes, either) };
    await response.body?.cancel();
    return { status: status === 0 ? 302 : status, headers, body: new Uint8Array(0) };
  } catch (cause) {
    if (cause instanceof SottoError && cause.code === "ANSWER_TOO_LARGE")
      throw failed("too large", `${name}: ${cause.message}`, cause);
    signal?.throwIfAborted();
    if (timeout.aborted) throw failed("timed out", `${name} did not answer in ${timeoutMs} ms`, cause);
    throw failed("unreachable", `nothing answers at ${name}`, cause);
  }
}
