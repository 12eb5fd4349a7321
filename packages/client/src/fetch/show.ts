import { readBody } from "@sotto/protocol";
import { PurchaseError } from "../purchase/errors.ts";
import type { PaidPurchase } from "../purchase/paid.ts";
import { HEADER_FRESH_MS } from "../purchase/paid.ts";
import type { OnProgress, PurchaseStage } from "../purchase/progress.ts";
import { quoted } from "../service/errors.ts";
import { wait } from "../wait.ts";
import type { Call } from "./call.ts";

export interface ShowOptions {
  onProgress: OnProgress | undefined;
  /** Milliseconds since the Unix epoch. */
  now(): number;
  url: URL;
  /** Milliseconds before a proof is shown again the first time; twice as many each time after. */
  retryDelayMs: number | undefined;
}

/** How often a proof is shown again to a server that fails or does not answer. */
const MOST_RETRIES = 3;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
const REFUSAL_LIMIT = 16 * 1024;
const REFUSAL_MS = 10_000;

/**
 * Sends the request with its proof. A server that fails (5xx), cannot be reached or asks to be asked again (402 with
 * Retry-After) is shown the same proof again, three times at most; one that refuses it has the last word, and nothing is
 * paid again.
 * @throws PurchaseError PAID_BUT_REFUSED, PAID_NOT_TAKEN_YET; what fetch throws; the signal's reason
 */
export async function showProof(call: Call, paid: PaidPurchase, options: ShowOptions): Promise<Response> {
  const { resourceUrl, price, txSignature, header } = paid;
  const tell = (stage: PurchaseStage) => options.onProgress?.({ stage, resourceUrl, price, txSignature });
  try {
    for (let retry = 0; ; retry += 1) {
      tell(retry === 0 ? "presenting" : "retrying");
      await paid.showing();
      const { response, error } = await attempt(call, { header, url: options.url });
      const fresh = options.now() - paid.timestamp < HEADER_FRESH_MS;
      if ((response === undefined || isPassing(response)) && retry < MOST_RETRIES && fresh) {
        await response?.body?.cancel().catch(() => undefined);
        await wait(pauseBefore(retry, response, options.retryDelayMs), call.signal);
        continue;
      }
      if (response === undefined) throw error;
      if (response.status === 402 || response.status === 400) throw await refusal(paid, response);
      // The next equal request shows it again; where it was taken after all, it is told so.
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

/** Whether the same proof may be taken in a moment. */
const isPassing = ({ status, headers }: Response): boolean =>
  status >= 500 || (status === 402 && headers.has("retry-after"));

/** Timed out, misdirected, too early, too busy, header too large: what a proxy says before a server has seen the proof. */
const UNSEEN = [408, 421, 425, 429, 431];

/** Whether the server failed, or may not have taken the proof. */
const mayNotHaveSeen = ({ status }: Response): boolean => status >= 500 || UNSEEN.includes(status);

async function refusal(paid: PaidPurchase, response: Response): Promise<Error> {
  const { status } = response;
  const reason = await reasonOf(response);
  if (!isPassing(response)) return paid.refused({ status, reason });
  const message = `it was paid, and the server cannot take the proof just now: ${quoted(reason)}. Call again`;
  return new PurchaseError("PAID_NOT_TAKEN_YET", message, { id: paid.id, status, reason: quoted(reason) });
}

async function attempt(call: Call, proof: { header: string; url: URL }) {
  try {
    return { response: await call.send(proof), error: undefined };
  } catch (error) {
    call.signal?.throwIfAborted();
    return { response: undefined, error };
  }
}

function pauseBefore(retry: number, response: Response | undefined, first = FIRST_PAUSE_MS): number {
  const asked = Number(response?.headers.get("retry-after") ?? Number.NaN) * 1000;
  const usual = first * 2 ** retry;
  return Math.min(Number.isFinite(asked) && asked > usual ? asked : usual, LONGEST_PAUSE_MS);
}

/** What the server says, whatever form it has; nothing where it does not come to an end. */
async function reasonOf(response: Response): Promise<string> {
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
