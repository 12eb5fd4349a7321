import { delay } from "@sotto/chain";
import { message as compose, foreign, quoted } from "@sotto/protocol";
import { ServiceClientError } from "./errors.ts";
import { exchange } from "./exchange.ts";

/** A JSON object of the service, of which nothing is checked. */
export type Json = Readonly<Record<string, unknown>>;

export interface AskOptions {
  /** Name of the request in errors. The URL itself may contain a phone number. */
  name: string;
  signal?: AbortSignal | undefined;
  /** Timeout of one response, ms. */
  timeoutMs: number;
  /** Time after which a busy service is not retried, ms since the Unix epoch. */
  until: number;
}

/** Maximum bytes of a response; the service's responses have a few hundred. */
const MAX_RESPONSE_BYTES = 64 * 1024;
/** Attempts to reach a service that does not respond: it may be restarting. */
const ATTEMPTS = 3;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 10_000;

/**
 * Requests JSON from a service. All of the service's endpoints are idempotent, so the request is retried if the service
 * is busy or briefly unreachable.
 * @throws ServiceClientError; the signal's reason
 */
export async function askJson(send: typeof fetch, url: string, init: RequestInit, options: AskOptions): Promise<Json> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await askOnce(send, url, init, options);
    } catch (error) {
      const pause = pauseAfter(error, attempt);
      if (pause === undefined || Date.now() + pause > options.until) throw error;
      await delay(pause, options.signal);
    }
  }
}

/** Bad gateway, unavailable, gateway timeout: the service or a proxy before it is temporarily unable to answer. */
const PASSING = [502, 503, 504];

/** Milliseconds to wait before a retry; undefined if the error is final. */
function pauseAfter(error: unknown, attempt: number): number | undefined {
  if (!(error instanceof ServiceClientError)) return undefined;
  const { status, retryAfter } = error.details;
  const pause = Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), MAX_PAUSE_MS);
  if (error.code === "SERVICE_UNREACHABLE" && attempt < ATTEMPTS) return pause;
  if (error.code === "SERVICE_REFUSED" && PASSING.includes(Number(status)))
    return typeof retryAfter === "number" ? Math.max(retryAfter * 1000, FIRST_PAUSE_MS) : pause;
  return undefined;
}

/** Stands for the code of an answer that has none. */
const NO_CODE = "NO_CODE";

function refusal(name: string, status: number, headers: Headers, body: Json): ServiceClientError {
  const { code, message } = body;
  const reason = typeof code === "string" && /^[A-Z0-9_]{1,64}$/.test(code) ? code : NO_CODE;
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  const retry = Number.isFinite(seconds) && seconds >= 0 ? { retryAfter: seconds } : {};
  const said = quoted(message) === "" ? "no message" : foreign(message);
  const text = compose`${name} answers ${status} ${reason === NO_CODE ? reason : foreign(reason)}: ${said}`;
  return new ServiceClientError("SERVICE_REFUSED", text, { status, reason, ...retry });
}

async function askOnce(send: typeof fetch, url: string, init: RequestInit, options: AskOptions): Promise<Json> {
  const { name } = options;
  const limits = { ...options, maxBytes: MAX_RESPONSE_BYTES };
  const answer = await exchange(send, url, init, limits, (why, text, cause) =>
    why === "too large"
      ? new ServiceClientError("SERVICE_ANSWER_INVALID", text)
      : new ServiceClientError(why === "timed out" ? "SERVICE_TIMEOUT" : "SERVICE_UNREACHABLE", text, {}, { cause }),
  );
  const { status, headers } = answer;
  if (status >= 300 && status < 400)
    throw new ServiceClientError("SERVICE_REDIRECTED", `${name} answers with a redirect; redirects are not followed`, {
      status,
    });
  const ok = status >= 200 && status < 300;
  const body = parseObject(name, ok, new TextDecoder().decode(answer.body));
  if (ok) return body;
  throw refusal(name, status, headers, body);
}

/** Parses a JSON object. The body of an error may be anything, because the status suffices. */
function parseObject(name: string, ok: boolean, text: string): Json {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === "object" && body !== null && !Array.isArray(body)) return body as Json;
  } catch {
    // Not JSON: handled below.
  }
  if (!ok) return {};
  throw new ServiceClientError("SERVICE_ANSWER_INVALID", `the body of ${name} is not a JSON object`);
}
