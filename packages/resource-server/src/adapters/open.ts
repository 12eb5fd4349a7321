import { setTimeout as sleep } from "node:timers/promises";
import { startPaywall } from "../paywall/create.ts";
import type { Decision, Paywall, PaywallOptions, PaywallRequest } from "../paywall/types.ts";

/** What an adapter needs of a paywall. */
export type Judge = Pick<Paywall, "decide" | "close"> & Partial<Pick<Paywall, "ready">>;

/** What an adapter is given: options of a paywall of its own, or a paywall that it shares with others and does not close. */
export type PaywallSource = PaywallOptions | Judge;

/** How long a start waits for the first attempt to reach chain and service, ms. */
const START_MS = 5_000;

/** The paywall behind an adapter that has to be there before the paywall is open. */
export class OpeningPaywall {
  readonly #paywall: Promise<Judge>;
  readonly #attempted: Promise<void>;
  readonly #own: boolean;

  constructor(source: PaywallSource) {
    this.#own = !("decide" in source);
    const started = "decide" in source ? undefined : startPaywall(source);
    this.#paywall = started ?? Promise.resolve(source as Judge);
    this.#attempted = started === undefined ? Promise.resolve() : started.then(({ attempted }) => attempted);
    // Requests and `ready` handle the failure themselves.
    this.#paywall.catch(() => undefined);
    this.#attempted.catch(() => undefined);
  }

  /**
   * Resolves when the paywall can judge payments. If nothing listens to it, a shop that never can ends with the error
   * instead of running without being able to sell.
   */
  ready(): Promise<void> {
    return this.#paywall.then(({ ready }) => ready);
  }

  /** Ends with the first attempt to reach chain and service, after 5 s at the latest. Rejects if it failed for good. */
  async started(): Promise<void> {
    const timer = new AbortController();
    const time = sleep(START_MS, undefined, { signal: timer.signal }).catch(() => undefined);
    try {
      await Promise.race([this.#attempted, time]);
    } catch (error) {
      // It is thrown here.
      this.ready().catch(() => undefined);
      throw error;
    } finally {
      timer.abort();
    }
  }

  /** Never throws: whatever fails here is the shop's trouble, and no caller learns more than that. */
  async decide(request: PaywallRequest): Promise<Decision> {
    try {
      return await (await this.#paywall).decide(request);
    } catch {
      const body = { error: "Service Unavailable", message: "payments cannot be checked at the moment" };
      return { kind: "refused", status: 503, headers: { "cache-control": "no-store", "retry-after": "5" }, body };
    }
  }

  async close(): Promise<void> {
    if (!this.#own) return;
    const paywall = await this.#paywall.catch(() => undefined);
    await paywall?.close();
  }
}
