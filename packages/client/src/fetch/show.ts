import { delay } from "@sotto/chain";
import { foreign, message, quoted, readBody } from "@sotto/protocol";
import { PurchaseError } from "../purchase/errors.ts";
import type { PaidPurchase } from "../purchase/paid.ts";
import { HEADER_FRESH_MS } from "../purchase/paid.ts";
import type { OnProgress, PurchaseStage } from "../purchase/progress.ts";
import { type Call, type CallPayment, PROOF_HEADER } from "./call.ts";

export interface ShowOptions {
  onProgress: OnProgress | undefined;
  /** Milliseconds since the Unix epoch. */
  now(): number;
  url: URL;
  /** Milliseconds before the first retry, doubled for each further one. */
  retryDelayMs: number | undefined;
}

/**
 * Maximum retries with the same proof if the server fails or does not answer. A resource server runs the handler of a
 * payment at most three times: it would refuse a fourth presentation permanently.
 */
const MAX_RETRIES = 2;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 10_000;
const REFUSAL_LIMIT = 16 * 1024;
const REFUSAL_MS = 10_000;

/**
 * Sends the request with its proof. If the server fails (5xx), is unreachable or answers 402 with Retry-After, the
 * client presents the same proof again, at most three times in total. A refusal is final, and the client does not pay
 * again.
 * @throws PurchaseError PAID_BUT_REFUSED, PAID_NOT_TAKEN_YET; the errors of fetch; the signal's reason
 */
export async function showProof(call: Call, paid: PaidPurchase, options: ShowOptions): Promise<Response> {
  const { resourceUrl, price, txSignature, header } = paid;
  const tell = (stage: PurchaseStage) => options.onProgress?.({ stage, resourceUrl, price, txSignature });
  try {
    for (let retry = 0; ; retry += 1) {
      tell(retry === 0 ? "presenting" : "retrying");
      await paid.showing();
      const { response, error } = await attempt(call, { name: PROOF_HEADER, value: header, url: options.url });
      const fresh = options.now() - paid.timestamp < HEADER_FRESH_MS;
      if ((response === undefined || isPassing(response)) && retry < MAX_RETRIES && fresh) {
        await response?.body?.cancel().catch(() => undefined);
        await delay(pauseBefore(retry, response, options.retryDelayMs), call.signal);
        continue;
      }
      if (response === undefined) throw error;
      if (response.status === 402 || response.status === 400) throw await refusal(paid, response);
      // The next equal request sends the proof again; a server that has already accepted it says so.
      if (mayNotHaveSeen(response)) paid.release();
      else await paid.delivered();
      return response;
    }
  } catch (error) {
    paid.release();
    call.signal?.throwIfAborted();
    throw error;
  }
}

/** Whether the server may accept the same proof a moment later. */
export const isPassing = ({ status, headers }: Response): boolean =>
  status >= 500 || (status === 402 && headers.has("retry-after"));

/**
 * Timeout, misdirected, too early, too many requests, header too large: a proxy may answer these before the server sees
 * the proof.
 */
const UNSEEN = [408, 421, 425, 429, 431];

/** Whether the server failed, or may not have seen the proof. */
export const mayNotHaveSeen = ({ status }: Response): boolean => status >= 500 || UNSEEN.includes(status);

async function refusal(paid: PaidPurchase, response: Response): Promise<Error> {
  const { status } = response;
  const reason = await reasonOf(response);
  if (!isPassing(response)) return paid.refused({ status, reason });
  const said = foreign(reason);
  const text = message`the payment is settled, but the server cannot accept the proof yet: ${said}; repeat the same request`;
  return new PurchaseError("PAID_NOT_TAKEN_YET", text, { id: paid.id, status, reason: quoted(reason) });
}

/** Sends a request with its payment. An error of fetch is a result; the signal's reason is thrown. */
export async function attempt(call: Call, payment: CallPayment) {
  try {
    return { response: await call.send(payment), error: undefined };
  } catch (error) {
    call.signal?.throwIfAborted();
    return { response: undefined, error };
  }
}

/** Milliseconds before the next retry. */
export function pauseBefore(retry: number, response: Response | undefined, first = FIRST_PAUSE_MS): number {
  const asked = Number(response?.headers.get("retry-after") ?? Number.NaN) * 1000;
  const usual = first * 2 ** retry;
  return Math.min(Number.isFinite(asked) && asked > usual ? asked : usual, MAX_PAUSE_MS);
}

/** The reason that the server gives, as JSON or text; empty if the body does not end in time. */
export async function reasonOf(response: Response): Promise<string> {
  const bytes = await readBody(response, REFUSAL_LIMIT, AbortSignal.timeout(REFUSAL_MS)).catch(() => new Uint8Array(0));
  const text = new TextDecoder().decode(bytes);
  try {
    const { error, message, code, reason } = Object(JSON.parse(text)) as Record<string, unknown>;
    const said = [code, reason, error, message].filter((part) => typeof part === "string" && part !== "");
    return said.join(": ");
  } catch {
    return text;
  }
}
