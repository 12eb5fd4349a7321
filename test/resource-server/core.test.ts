// The paywall on a real chain, without a framework: its challenges, checks and events.

import { MAX_URL_LENGTH, type PaymentInstructions, randomField } from "@sotto/protocol";
import type { OpenMethod, PaymentMethod, PaywallEvent, PaywallOptions } from "@sotto/resource-server";
import { slow } from "@sotto/test-kit/slow";
import { type MerchantWorld, ORIGIN, openMerchantWorld, PRICE, pay } from "@sotto/test-world/paywall/world";
import { expect } from "chai";
import { ask, CorePaywalls, told } from "./support/core.ts";

describe("a paywall", function () {
  slow(this, "a chain, a service and proofs");
  let world: MerchantWorld;
  let core: CorePaywalls;
  before(async () => {
    world = await openMerchantWorld();
    core = new CorePaywalls(world);
  });
  afterEach(() => core.closeAll());

  it("answers 402 with a single price, in one body and in the headers of both formats", async () => {
    const offering = (offer: NonNullable<OpenMethod["offer"]>): PaymentMethod => ({
      name: "other",
      open: () => ({ offer }),
    });
    const method = offering(({ price, resource }) => ({
      headers: { "PAYMENT-REQUIRED": `${price} ${resource}`, "access-control-expose-headers": "PAYMENT-REQUIRED" },
    }));
    const decision = await ask(await core.open({ methods: [method] }));
    if (decision.kind !== "refused") throw new Error(decision.kind);
    expect(decision.headers).to.deep.equal({
      "cache-control": "no-store",
      vary: "X-Payment-Proof",
      "access-control-expose-headers": "WWW-Authenticate, Retry-After, PAYMENT-REQUIRED",
      "www-authenticate": "x402-zk",
      "payment-required": `${PRICE} ${ORIGIN}/paid/a`,
    });
    const hooks: NonNullable<OpenMethod["offer"]>[] = [
      () => Promise.reject(new Error("no")),
      () => ({ headers: { "www-authenticate": "basic" } }),
      () => ({ headers: { "bad header": "a" } }),
      () => ({ headers: { a: "line\r\nbreak: b" } }),
    ];
    for (const hook of hooks) {
      const plain = await ask(await core.open({ methods: [offering(hook)] }));
      expect(plain.kind === "refused" && [plain.status, plain.headers["www-authenticate"]]).to.deep.equal([
        402,
        "x402-zk",
      ]);
      expect(core.events.map(({ reason }) => reason)).to.include("OFFER_FAILED");
    }
  });

  it("adds a listing to the body of a listed route, and changes nothing else", async () => {
    const bodyOf = async (changes: Partial<PaywallOptions>) => {
      const decision = await ask(await core.open(changes));
      if (decision.kind !== "refused") throw new Error(decision.kind);
      const { metadata, ...body } = decision.body as PaymentInstructions;
      return { ...body, metadata: { resource: metadata.resource } };
    };
    const plain = await bodyOf({});
    const route = { path: "/paid/:name", method: "GET", description: "A file" } as const;
    const { resource, extensions, ...listed } = (await bodyOf({ discovery: [route] })) as Record<string, unknown>;
    expect(JSON.stringify(listed)).to.equal(JSON.stringify(plain));
    expect(resource).to.include({ url: `${ORIGIN}/paid/a`, description: "A file" });
    expect(extensions).to.have.keys("bazaar", "privacy");
    expect(await bodyOf({ discovery: [{ ...route, path: "/other" }] })).to.deep.equal(plain);
  });

  it("accepts a header with the whole bundle for the longest URL", async () => {
    const target = `/paid/${"a".repeat(MAX_URL_LENGTH - ORIGIN.length - "/paid/".length)}`;
    const paywall = await core.open();
    const { bundle, paymentToken, txSignature } = await pay(world, { target });
    // A header from a client that follows only the interface document.
    const header = JSON.stringify({ ...bundle, paymentToken, txSignature });
    expect(told(await ask(paywall, [header], target))).to.equal("paid");
  });

  it("rejects a target whose proof would not fit into a header, before payment", async () => {
    const paywall = await core.open();
    const refused = await ask(paywall, [], `/paid/${'"'.repeat(2_000)}`);
    if (refused.kind !== "refused") throw new Error(refused.kind);
    expect(refused.status).to.equal(400);
    expect(JSON.stringify(refused.body)).to.match(/takes up to \d+ characters.*at most 8192/);
    expect(told(await ask(paywall, [], `/paid/${"a".repeat(2_000)}`))).to.equal("402");
  });

  it("answers 503 if the price function fails, and reports the error", async () => {
    const paywall = await core.open({
      price: () => {
        throw new Error("no prices today");
      },
    });
    expect(told(await ask(paywall))).to.equal("503 later");
    expect(core.events.map(({ event }) => event)).to.deep.equal(["trouble"]);
    expect(JSON.stringify(await ask(paywall))).not.to.include("today");
    expect(told(await ask(paywall, [], "/health"))).to.equal("free");
  });

  it("answers 503 if a request's headers cannot be read, and reports the error", async () => {
    const paywall = await core.open();
    const header = () => {
      throw new Error("no headers");
    };
    expect(told(await paywall.decide({ method: "GET", target: "/paid/a", header }))).to.equal("503 later");
    expect(core.events.map(({ event }) => event)).to.deep.equal(["trouble"]);
  });

  it("reads the amount with the viewing keys of months", async () => {
    const { addresses, viewingKeys } = world.merchant;
    const paywall = await core.open({ recipient: { addresses, viewingKeys } });
    const paid = await core.show(paywall, await pay(world, { amount: PRICE + 7n }));
    if (paid.kind !== "paid" || paid.payment.kind !== "payment") throw new Error(told(paid));
    const { amount, bounds, settledThere, resource, wallet } = paid.payment;
    expect({ amount, bounds, settledThere, resource, wallet }).to.deep.equal({
      amount: PRICE + 7n,
      bounds: { lowerBound: PRICE, upperBound: 11_000n },
      settledThere: true,
      resource: `${ORIGIN}/paid/a`,
      wallet: world.merchant.wallet,
    });
    // Proofs of the development keys can be forged: this one states the price, but its note is unreadable.
    const lie = await core.show(paywall, await pay(world, { commitments: [randomField(), randomField()] }));
    expect([told(lie), core.events.at(-1)?.reason]).to.deep.equal(["402", "AMOUNT"]);
  });

  it("logs no proof, and survives a hook that throws", async () => {
    const told: PaywallEvent[] = [];
    const onEvent = (event: PaywallEvent) => {
      told.push(event);
      throw new Error("the hook's own trouble");
    };
    const paywall = await core.open({ onEvent });
    const payment = await pay(world);
    const decision = await core.show(paywall, payment);
    if (decision.kind === "paid") await decision.finish("aborted");
    await ask(paywall, ["no JSON"]);
    await ask(paywall, ["{}"]);
    expect(told.map(({ event, reason, status }) => [event, reason ?? status])).to.deep.equal([
      ...[
        ["paid", undefined],
        ["finished", 0],
        ["malformed", undefined],
        ["refused", "HEADER"],
      ],
    ]);
    const text = JSON.stringify(told);
    for (const secret of [payment.paymentToken, payment.txSignature, payment.bundle.senderCommitment, "no JSON"])
      expect(text).not.to.include(secret);
  });

  it("rejects payments after close", async () => {
    const paywall = await core.open();
    await paywall.close();
    expect(told(await ask(paywall))).to.equal("503 later");
    await paywall.close();
  });
});
