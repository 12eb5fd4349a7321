// Prices with terms of their own, made up here: methods get the terms, and handlers a meter.

import type {
  Decision,
  Meter,
  MeteredQuote,
  OfferTerms,
  PaymentMethod,
  Paywall,
  PaywallOptions,
  RequestTerms,
  ResponseEnd,
} from "@sotto/resource-server";
import { slow } from "@sotto/test-kit/slow";
import { type MerchantWorld, openMerchantWorld, PRICE, pay } from "@sotto/test-world/paywall/world";
import { expect } from "chai";
import { ask, CorePaywalls, told } from "./support/core.ts";

/** Counts up to a cap, one base unit for each unit. */
class Counting implements Meter {
  charge = 0n;
  readonly #cap: bigint;

  constructor(cap: bigint) {
    this.#cap = cap;
  }

  get left(): bigint {
    return this.#cap - this.charge;
  }

  add(units: Readonly<Record<string, number | bigint>>): boolean {
    for (const count of Object.values(units)) this.charge += BigInt(count);
    if (this.charge > this.#cap) this.charge = this.#cap;
    return this.left > 0n;
  }

  async checkpoint(): Promise<void> {}

  keep(): void {}
}

/** A price whose other terms only the method below understands. */
const quote = (meter?: MeteredQuote["meter"]) => ({
  amount: PRICE,
  meter,
  get secret(): string {
    throw new Error("nobody else reads it");
  },
});

type Paid = Extract<Decision, { kind: "paid" }>;

describe("a price with terms of its own", function () {
  slow(this, "a chain, a service and proofs");
  let world: MerchantWorld;
  let paywalls: CorePaywalls;
  before(async () => {
    world = await openMerchantWorld();
    paywalls = new CorePaywalls(world);
  });
  afterEach(() => paywalls.closeAll());
  const troubles = () => paywalls.events.flatMap(({ event, reason }) => (event === "trouble" ? [reason] : []));
  const show = async (paywall: Paywall): Promise<Paid> => {
    const decision = await paywalls.show(paywall, await pay(world));
    expect(told(decision)).to.equal("paid");
    return decision as Paid;
  };

  it("is asked for by its amount, and given to methods as it is", async () => {
    const seen: (OfferTerms | RequestTerms)[] = [];
    const quotes: unknown[] = [];
    const spy: PaymentMethod = {
      name: "spy",
      open: (core) => {
        core.assertQuote(given);
        return {
          assertQuote: (one, token) => void quotes.push([one, token.decimals]),
          offer: (terms) => void seen.push(terms),
          decide: async (_request, terms) => void seen.push(terms),
        };
      },
    };
    const [fixed, other] = [quote(), quote()];
    const given = { name: "a price", route: { path: "/paid/e", method: "GET" }, quote: quote() };
    const changes: Partial<PaywallOptions> = {
      methods: [spy],
      price: other,
      routes: [
        { path: "/paid/a", method: "GET", price: fixed },
        { path: "/paid/b", price: () => other },
        { path: "/paid/c", price: PRICE },
      ],
    };
    const paywall = await paywalls.open(changes);
    expect(quotes).to.deep.equal([
      [{ name: "price", route: undefined, quote: other }, 6],
      [{ name: "routes[0].price", route: { path: "/paid/a", method: "GET" }, quote: fixed }, 6],
      [given, 6],
    ]);
    for (const [target, expected] of [
      ["/paid/a", fixed],
      ["/paid/b", other],
      ["/paid/c", undefined],
      ["/paid/d", other],
    ] as const) {
      seen.length = 0;
      const asked = await ask(paywall, [], target);
      expect(asked.kind === "refused" && asked.body).to.have.nested.property("payment.amountBaseUnits", String(PRICE));
      expect(seen.map((terms) => [terms.price, terms.quote])).to.deep.equal([
        [PRICE, expected],
        [PRICE, expected],
      ]);
      expect(seen.every((terms) => terms.quote === expected)).to.equal(true);
    }
  });

  it("gives a private payment a meter, which learns of the end", async () => {
    const ends: ResponseEnd[] = [];
    const paywall = await paywalls.open({
      price: quote(({ kind, id }, { price, token }) => {
        expect([kind, id.startsWith(`${world.chainId}:`), token.decimals]).to.deep.equal(["payment", true, 6]);
        return { meter: new Counting(price), ended: (end) => void ends.push(end) };
      }),
    });
    const { payment, finish, ended } = await show(paywall);
    expect([payment.meter?.left, payment.meter?.add({ output: 7 }), payment.meter?.charge]).to.deep.equal([
      PRICE,
      true,
      7n,
    ]);
    expect([payment.meter?.add({ output: PRICE }), payment.meter?.charge]).to.deep.equal([false, PRICE]);
    await finish(200);
    await ended?.("cut");
    expect([ends, troubles()]).to.deep.equal([["cut"], []]);
  });

  it("leaves a payment its own meter", async () => {
    const own = new Counting(1n);
    const ends: string[] = [];
    const method: PaymentMethod = {
      name: "own",
      headers: [{ name: "X-Own" }],
      open: ({ paid }) => ({
        decide: async (_request, { price: amount, resource }) =>
          paid(
            { kind: "password", id: "own", amount, resource, meter: own },
            async (outcome) => void ends.push(String(outcome)),
            (end) => void ends.push(end),
          ),
      }),
    };
    const paywall = await paywalls.open({
      methods: [method],
      price: quote(() => {
        throw new Error("has a meter");
      }),
    });
    const decision = (await ask(paywall)) as Paid;
    expect(decision.payment.meter).to.equal(own);
    await decision.finish(500);
    await decision.ended?.("complete");
    expect(ends).to.deep.equal(["500", "complete"]);
  });

  it("without a meter makes the decision depend on no end", async () => {
    const { payment, ended } = await show(await paywalls.open({ price: quote() }));
    expect([payment.meter, ended]).to.deep.equal([undefined, undefined]);
  });

  it("releases the payment if its meter does not start", async () => {
    let fails = true;
    const paywall = await paywalls.open({
      price: quote((_payment, { price }) => {
        if (fails) throw new Error("no meter");
        return { meter: new Counting(price) };
      }),
    });
    const payment = await pay(world);
    expect([told(await paywalls.show(paywall, payment)), troubles()]).to.deep.equal(["503 later", ["UNKNOWN"]]);
    fails = false;
    expect(told(await paywalls.show(paywall, payment))).to.equal("paid");
  });

  it("reports an end that fails, and never rejects", async () => {
    const paywall = await paywalls.open({
      price: quote((_payment, { price }) => ({
        meter: new Counting(price),
        ended: () => Promise.reject(new Error("no store")),
      })),
    });
    const { finish, ended } = await show(paywall);
    await finish(200);
    await ended?.("complete");
    expect(troubles()).to.deep.equal(["UNKNOWN"]);
  });

  it("is rejected at the start if its amount is invalid, and gets 503 if a function returns it", async () => {
    for (const price of [{}, { amount: 1 }, { amount: "x" }, []]) {
      const failure = await paywalls.open({ price: price as never }).catch(({ code, message }) => `${code} ${message}`);
      expect(failure).to.match(/^INVALID_OPTION price /);
    }
    const paywall = await paywalls.open({ price: () => ({ amount: 1 }) as never });
    expect(told(await ask(paywall))).to.equal("503 later");
  });
});
