import { delay } from "@sotto/chain";
import { readBody } from "@sotto/protocol";

/** How often and when a payment is sent again. */
export interface PresentOptions {
  /** Maximum number of times it is sent again. */
  readonly retries: number;
  /** Called before it is sent, and again before each retry. */
  readonly before?: ((retry: number) => Promise<void> | void) | undefined;
  /** Whether it may be sent again now. Default: yes. */
  readonly mayRetry?: (() => boolean) | undefined;
  /**
   * Whether it is sent again only if the server answers 402 with Retry-After: then the server did not take it. Default: also
   * if the server fails or does not answer.
   */
  readonly onlyIfAsked?: boolean | undefined;
}

/** The server's answer to a request with a payment. */
export interface Presented {
  /** Its body is read if the payment is refused or pending. */
  readonly response: Response;
  /** How many times the payment was sent again. */
  readonly retries: number;
  /**
   * answered: the server has seen the payment. unseen: the server failed, or may not have seen it: show it again later.
   * pending: the server cannot accept it yet (402 with Retry-After). refused: any other 402.
   */
  readonly outcome: "answered" | "unseen" | "pending" | "refused";
  /** The server's reason if it is refused or pending; "" otherwise, or if it gives none. */
  readonly reason: string;
  /** The body if it is refused or pending; empty otherwise, and if it is longer than 16 KiB or does not end in 10 s. */
  readonly body: Uint8Array;
}

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 10_000;
const REFUSAL_LIMIT = 16 * 1024;
const REFUSAL_MS = 10_000;

/**
 * Sends a request with its payment, again if the server fails, is unreachable or answers 402 with Retry-After.
 * @param firstPauseMs milliseconds before the first retry, doubled for each further one. Default: 500
 * @throws the errors of `send`; the signal's reason
 */
export async function present(
  send: () => Promise<Response>,
  { retries: max, before, mayRetry = () => true, onlyIfAsked = false }: PresentOptions,
  signal: AbortSignal | undefined,
  firstPauseMs?: number,
): Promise<Presented> {
  for (let retries = 0; ; retries += 1) {
    await before?.(retries);
    const { response, error } = await attempt(send, signal);
    const mayPass = onlyIfAsked
      ? response !== undefined && isAsked(response)
      : response === undefined || isPassing(response);
    if (mayPass && retries < max && mayRetry()) {
      await response?.body?.cancel().catch(() => undefined);
      await delay(pauseBefore(retries, response, firstPauseMs), signal);
      continue;
    }
    if (response === undefined) throw error;
    if (response.status === 402) {
      const outcome = isPassing(response) ? "pending" : "refused";
      const body = await refusalOf(response);
      return { response, retries, outcome, reason: reasonIn(body), body };
    }
    const outcome = mayNotHaveSeen(response) ? "unseen" : "answered";
    return { response, retries, outcome, reason: "", body: new Uint8Array(0) };
  }
}

/** Whether the server says that it may accept the same payment a moment later. */
const isAsked = ({ status, headers }: Response): boolean => status === 402 && headers.has("retry-after");

/** Whether the server may accept the same payment a moment later. */
const isPassing = (response: Response): boolean => response.status >= 500 || isAsked(response);

/**
 * Timeout, misdirected, too early, too many requests, header too large: a proxy may answer these before the server sees
 * the payment.
 */
const UNSEEN = [408, 421, 425, 429, 431];

/** Whether the server failed, or may not have seen the payment. */
const mayNotHaveSeen = ({ status }: Response): boolean => status >= 500 || UNSEEN.includes(status);

/** Sends a request with its payment. An error of fetch is a result; the signal's reason is thrown. */
async function attempt(send: () => Promise<Response>, signal: AbortSignal | undefined) {
  try {
    return { response: await send(), error: undefined };
  } catch (error) {
    signal?.throwIfAborted();
    return { response: undefined, error };
  }
}

/** Milliseconds before the next retry. */
function pauseBefore(retry: number, response: Response | undefined, first = FIRST_PAUSE_MS): number {
  const asked = Number(response?.headers.get("retry-after") ?? Number.NaN) * 1000;
  const usual = first * 2 ** retry;
  return Math.min(Number.isFinite(asked) && asked > usual ? asked : usual, MAX_PAUSE_MS);
}

/** The reason that the server gives, as JSON or text; empty if the body does not end in time. */
export const reasonOf = async (response: Response): Promise<string> => reasonIn(await refusalOf(response));

const refusalOf = (response: Response): Promise<Uint8Array> =>
  readBody(response, REFUSAL_LIMIT, AbortSignal.timeout(REFUSAL_MS)).catch(() => new Uint8Array(0));

function reasonIn(body: Uint8Array): string {
  const text = new TextDecoder().decode(body);
  try {
    const { error, message, code, reason, detail } = Object(JSON.parse(text)) as Record<string, unknown>;
    const said = [code, reason, error, message, detail].filter((part) => typeof part === "string" && part !== "");
    return said.join(": ");
  } catch {
    return text;
  }
}
