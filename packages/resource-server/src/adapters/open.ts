import { createPaywall } from "../paywall/create.ts";
import type { Decision, Paywall, PaywallOptions, PaywallRequest } from "../paywall/types.ts";

/** What an adapter needs of a paywall. */
export type Judge = Pick<Paywall, "decide" | "close">;

/** What an adapter is given: options of a paywall of its own, or a paywall that it shares with others and does not close. */
export type PaywallSource = PaywallOptions | Judge;

/** The paywall behind an adapter that has to be there before the paywall is open. */
export class OpeningPaywall {
  /**
   * Settles when the paywall is open. Nothing of an adapter listens to it, so a shop whose options are wrong ends with
   * their error instead of running without being able to sell, unless its own code awaits this and decides otherwise.
   */
  readonly ready: Promise<void>;
  readonly #paywall: Promise<Judge>;
  readonly #own: boolean;

  constructor(source: PaywallSource) {
    this.#own = !("decide" in source);
    this.#paywall = "decide" in source ? Promise.resolve(source) : createPaywall(source);
    // Requests handle the failure themselves; `ready` is a promise of its own, and tells whoever does not ask.
    this.#paywall.catch(() => undefined);
    this.ready = this.#paywall.then(() => undefined);
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
