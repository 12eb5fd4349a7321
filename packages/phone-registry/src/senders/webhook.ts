import { createHmac, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { PhoneError } from "../errors.ts";
import type { CodeMessage, CodeSender } from "../registry/options.ts";

export interface WebhookOptions {
  /** https, or http on a local chain. */
  readonly url: string;
  /** Shared with the webhook: the key of the HMAC. */
  readonly secret: string;
  /** Timeout of one try, ms. */
  readonly timeoutMs: number;
  /** Maximum tries, 1 to 5. */
  readonly tries: number;
  /** Now, ms. */
  readonly clock?: (() => number) | undefined;
  readonly wait?: ((ms: number) => Promise<void>) | undefined;
}

const FIRST_PAUSE_MS = 200;

/**
 * Posts codes to the operator's webhook, which sends a text message or calls.
 *
 * POST with `{ phoneNumber, code, walletAddress, expiresAt }`, `idempotency-key` (the same for every try of one code),
 * `x-sotto-timestamp` (Unix seconds) and `x-sotto-signature`: `v1=` and the hex HMAC-SHA-256 of the timestamp, a dot and
 * the body. Any 2xx is success. 408, 429, 5xx, timeouts and failed connections are retried. A redirect is a failure,
 * because codes must not go to another address.
 */
export class WebhookSender implements CodeSender {
  readonly #options: WebhookOptions;

  constructor(options: WebhookOptions) {
    this.#options = options;
  }

  /** @throws PhoneError CODE_NOT_SENT; the message contains neither number, code nor URL */
  async send({ phone, code, wallet, expiresAt }: CodeMessage): Promise<void> {
    const { tries, wait = sleep, clock = Date.now } = this.#options;
    const body = JSON.stringify({ phoneNumber: phone, code, walletAddress: wallet, expiresAt });
    const key = randomUUID();
    let why = "the code expired";
    for (let attempt = 0; attempt < tries; attempt += 1) {
      if (attempt > 0) await wait(FIRST_PAUSE_MS * 2 ** attempt);
      if (clock() >= expiresAt) break;
      const answer = await this.#post(body, key);
      if (answer === "ok") return;
      why = answer.why;
      if (!answer.again) break;
    }
    throw new PhoneError("CODE_NOT_SENT", `the webhook did not accept a code: ${why}`);
  }

  async #post(body: string, key: string): Promise<"ok" | { readonly why: string; readonly again: boolean }> {
    const { url, secret, timeoutMs, clock = Date.now } = this.#options;
    const timestamp = String(Math.floor(clock() / 1000));
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "idempotency-key": key,
          "x-sotto-timestamp": timestamp,
          "x-sotto-signature": `v1=${signWebhook(secret, timestamp, body)}`,
        },
        body,
        redirect: "manual",
        signal: AbortSignal.timeout(timeoutMs),
      });
      // The body is not needed, and a large one would cost memory.
      await response.body?.cancel();
      if (response.ok) return "ok";
      const { status } = response;
      return { why: `status ${status}`, again: status === 408 || status === 429 || status >= 500 };
    } catch (error) {
      return {
        why: error instanceof Error && error.name === "TimeoutError" ? "no response in time" : "unreachable",
        again: true,
      };
    }
  }
}

/** The signature. A webhook computes it over the timestamp header and the raw body, and compares in constant time. */
export const signWebhook = (secret: string, timestamp: string, body: string): string =>
  createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
