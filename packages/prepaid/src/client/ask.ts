import { type ForeignText, foreign, readBody, SottoError } from "@sotto/protocol";
import { PrepaidError } from "./errors.ts";

/** A complete answer. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
}

export interface AskLimits {
  /** The name of the request in error messages. */
  readonly name: string;
  /** Maximum bytes of the answer. */
  readonly maxBytes: number;
  /** Maximum milliseconds for the whole answer: the other side may never finish. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends a request without cookies or referrer and reads its whole answer. Follows no redirect.
 *
 * @throws PrepaidError PREPAID_UNREACHABLE; the signal's reason
 */
export async function ask(
  send: typeof fetch,
  url: string,
  init: RequestInit,
  { name, maxBytes, timeoutMs, signal }: AskLimits,
): Promise<Answer> {
  signal?.throwIfAborted();
  const timeout = AbortSignal.timeout(timeoutMs);
  const either = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
  try {
    const response = await send(url, {
      ...init,
      redirect: "manual",
      credentials: "omit",
      cache: "no-store",
      referrerPolicy: "no-referrer",
      signal: either,
    });
    const { status, headers } = response;
    // A browser hides the status of a redirect.
    if (response.type === "opaqueredirect") return { status: 302, headers, body: new Uint8Array(0) };
    return { status, headers, body: await readBody(response, maxBytes, either) };
  } catch (cause) {
    signal?.throwIfAborted();
    const tooLarge = cause instanceof SottoError && cause.code === "ANSWER_TOO_LARGE";
    const why = timeout.aborted ? ` did not answer in ${timeoutMs} ms` : " cannot be reached";
    throw new PrepaidError("PREPAID_UNREACHABLE", name + (tooLarge ? `: ${cause.message}` : why), {}, { cause });
  }
}

/** The JSON of an answer; undefined if it is not JSON. */
export function jsonOf({ body }: Answer): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}

/** The reason of a refusal, for a message: the status is our own word, a code is the server's. */
export function saidIn(answer: Answer): string | ForeignText {
  const reason = reasonOf(answer);
  return reason === String(answer.status) ? reason : foreign(reason);
}

/** The code of an error's body, or its status. */
export function reasonOf(answer: Answer): string {
  const { code } = Object(jsonOf(answer)) as Record<string, unknown>;
  return typeof code === "string" && /^[A-Z0-9_]{1,64}$/.test(code) ? code : String(answer.status);
}
