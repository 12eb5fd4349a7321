import { createHmac } from "node:crypto";
import { ACCEPT, type Judge, REFUSE } from "./judge.ts";

export interface WebhookOptions {
  readonly url: string;
  /** The key of the HMAC, shared with the webhook. */
  readonly secret: string;
  readonly timeoutMs: number;
  /** When a deposit without an answer is asked about again, ms. */
  readonly againMs: number;
  /** Now, ms. */
  readonly clock: () => number;
}

const MAX_ANSWER_BYTES = 4_096;

/** The signature: hex HMAC-SHA-256 of the timestamp, a dot and the body. A webhook compares it in constant time. */
export const signJudgement = (secret: string, timestamp: string, body: string): string =>
  createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");

/**
 * Posts the deposit to a program of the curator, which answers `{"verdict": "accept"}`, `"refuse"` or `"wait"`. Without such an answer
 * in time, the deposit waits: an outage accepts nothing.
 */
export const webhookJudge = ({ url, secret, timeoutMs, againMs, clock }: WebhookOptions): Judge => ({
  name: "webhook",
  parameters: { host: new URL(url).host },
  async judge({ leaf, amount, transaction, depositor, timestamp }) {
    const body = JSON.stringify({ leaf, amount: String(amount), transaction, depositor, timestamp });
    const now = String(Math.floor(clock() / 1000));
    const headers = {
      "content-type": "application/json",
      "idempotency-key": `${transaction}-${leaf}`,
      "x-sotto-timestamp": now,
      "x-sotto-signature": `v1=${signJudgement(secret, now, body)}`,
    };
    const signal = AbortSignal.timeout(timeoutMs);
    const answer = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal })
      .then(readVerdict)
      .catch(() => undefined);
    if (answer === "accept") return ACCEPT;
    if (answer === "refuse") return REFUSE;
    return { verdict: "wait", again: clock() + againMs };
  },
});

async function readVerdict(response: Response): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) return undefined;
    chunks.push(chunk);
  }
  if (!response.ok) return undefined;
  return Object(JSON.parse(Buffer.concat(chunks).toString("utf8"))).verdict;
}
