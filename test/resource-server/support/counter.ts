import type { Paywall, PaywallEvent, PaywallOptions } from "@sotto/resource-server";
import { openPaywall } from "@sotto/test-world/paywall/options";
import { bareHeaderOf, headerOf, showing } from "@sotto/test-world/paywall/payments";
import type { MerchantWorld, Settled } from "@sotto/test-world/paywall/world";
import { expect } from "chai";
import type { ResourceServer, StartServer } from "./servers.ts";

/** The body that the interface prescribes for a payment that fails a check. */
export const INVALID = { error: "Invalid payment proof", message: "ZK proof verification failed" };

/** A server that counts its sales, with assertions about its responses. */
export class Counter {
  readonly server: ResourceServer;
  readonly #paywall: Paywall;
  readonly #sold: () => number;
  readonly #events: readonly PaywallEvent[];

  private constructor(server: ResourceServer, paywall: Paywall, sold: () => number, events: readonly PaywallEvent[]) {
    this.server = server;
    this.#paywall = paywall;
    this.#sold = sold;
    this.#events = events;
  }

  static async open(start: StartServer, world: MerchantWorld, changes: Partial<PaywallOptions> = {}): Promise<Counter> {
    let sold = 0;
    const events: PaywallEvent[] = [];
    const paywall = await openPaywall(world, { ...changes, onEvent: (event) => void events.push(event) });
    const server = await start(paywall, () => {
      sold += 1;
      return { status: 200, text: "the goods" };
    });
    return new Counter(server, paywall, () => sold, events);
  }

  /** How often the handler ran. */
  get sold(): number {
    return this.#sold();
  }

  show(header: string, target = "/paid/a"): Promise<Response> {
    return fetch(`${this.server.url}${target}`, { headers: showing(header) });
  }

  /**
   * Expects that the handler does not run, and that the response does not reveal which check failed.
   *
   * @param reason the check that must fail, as the paywall reports it to the operator
   */
  async refuses(reason: string, payment: Settled, target?: string): Promise<void> {
    await this.#refuses(reason, headerOf(payment), target);
  }

  /** The same without the optional fields, because they would expose the lie before the check under test runs. */
  async refusesBare(reason: string, payment: Settled, target?: string): Promise<void> {
    await this.#refuses(reason, bareHeaderOf(payment), target);
  }

  async #refuses(reason: string, header: string, target?: string): Promise<void> {
    const before = this.sold;
    const response = await this.show(header, target);
    expect([response.status, await response.json()]).to.deep.equal([402, INVALID]);
    expect(this.sold, "the handler ran").to.equal(before);
    const { event, reason: found } = this.#events.at(-1)!;
    expect([event, found]).to.deep.equal(["refused", reason]);
  }

  async takes(payment: Settled, target?: string): Promise<void> {
    const before = this.sold;
    const response = await this.show(headerOf(payment), target);
    expect([response.status, await response.text()]).to.deep.equal([200, "the goods"]);
    expect(this.sold).to.equal(before + 1);
  }

  async close(): Promise<void> {
    await this.server.close();
    await this.#paywall.close();
  }
}
