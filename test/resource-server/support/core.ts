// Paywalls without a framework; tests call `decide` directly.
import type { Decision, Paywall, PaywallEvent, PaywallOptions } from "@sotto/resource-server";
import { openPaywall, paywallOptions } from "@sotto/test-world/paywall/options";
import { headerOf } from "@sotto/test-world/paywall/payments";
import type { MerchantWorld, Settled } from "@sotto/test-world/paywall/world";

export function ask(paywall: Paywall, values: readonly string[] = [], target = "/paid/a"): Promise<Decision> {
  return paywall.decide({ method: "GET", target, header: (name) => (name === "x-payment-proof" ? values : []) });
}

/** "paid", or the status of a refusal, with " later" if it has a Retry-After. */
export function told(decision: Decision): string {
  if (decision.kind !== "refused") return decision.kind;
  return `${decision.status}${"retry-after" in decision.headers ? " later" : ""}`;
}

/** The paywalls of one test, and the events that they report. */
export class CorePaywalls {
  readonly events: PaywallEvent[] = [];
  readonly #world: MerchantWorld;
  readonly #opened: Paywall[] = [];

  constructor(world: MerchantWorld) {
    this.#world = world;
  }

  async open(changes: Partial<PaywallOptions> = {}): Promise<Paywall> {
    const onEvent = (event: PaywallEvent) => void this.events.push(event);
    const paywall = await openPaywall(this.#world, { onEvent, ...changes });
    this.#opened.push(paywall);
    return paywall;
  }

  /** The default chain options with these changes. */
  chain(changes: Partial<PaywallOptions["chain"]>): PaywallOptions["chain"] {
    return { ...paywallOptions(this.#world).chain, ...changes };
  }

  show(paywall: Paywall, payment: Settled): Promise<Decision> {
    return ask(paywall, [headerOf(payment)]);
  }

  async closeAll(): Promise<void> {
    this.events.length = 0;
    for (const paywall of this.#opened.splice(0)) await paywall.close();
  }
}
