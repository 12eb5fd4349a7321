import { createHmac } from "node:crypto";
import { ANONYMOUS, readBody, SottoError } from "@sotto/protocol";
import { CuratorError } from "../errors.ts";
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
  async judge({ leaf, amount, transaction, depositor, timestamp }, stopping) {
    const body = JSON.stringify({ leaf, amount: String(amount), transaction, depositor, timestamp });
    const now = String(Math.floor(clock() / 1000));
    const headers = {
      "content-type": "application/json",
      "idempotency-key": `${transaction}-${leaf}`,
      "x-sotto-timestamp": now,
      "x-sotto-signature": `v1=${signJudgement(secret, now, body)}`,
    };
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(timeoutMs)]);
    try {
      const response = await fetch(url, { ...ANONYMOUS, method: "POST", headers, body, redirect: "manual", signal });
      const verdict = await readVerdict(response, signal);
      if (verdict === "accept") return ACCEPT;
      if (verdict === "refuse") return REFUSE;
      return { verdict: "wait", again: clock() + againMs };
    } catch (error) {
      const failed = error instanceof CuratorError ? error : unanswered(error, timeoutMs);
      return { verdict: "wait", again: clock() + againMs, error: failed };
    }
  },
});

/** A failed request, or an answer that is too large or no JSON. */
function unanswered(cause: unknown, timeoutMs: number): CuratorError {
  const isLate = (cause as Error | undefined)?.name === "TimeoutError";
  const unreadable =
    cause instanceof SottoError ? `gives no verdict: ${cause.message}` : "cannot be reached, or its answer is not JSON";
  const why = isLate ? `does not answer within ${timeoutMs} ms` : unreadable;
  return new CuratorError("ORIGIN_JUDGE_FAILED", `the webhook ${why}`, {}, { cause });
}

async function readVerdict(response: Response, signal: AbortSignal): Promise<"accept" | "refuse" | "wait"> {
  const bytes = await readBody(response, MAX_ANSWER_BYTES, signal);
  if (response.ok) {
    const { verdict } = Object(JSON.parse(Buffer.from(bytes).toString("utf8"))) as { verdict?: unknown };
    if (verdict === "accept" || verdict === "refuse" || verdict === "wait") return verdict;
  }
  throw new CuratorError("ORIGIN_JUDGE_FAILED", `the webhook answers ${response.status} without a verdict`);
}
