// The paywall itself on a real chain, without a framework: how it opens, what it asks, what it takes.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { randomField } from "@sotto/protocol";
import type { Decision, Paywall, PaywallEvent, PaywallOptions } from "@sotto/resource-server";
import { expect } from "chai";
import { openPaywall, shopOptions } from "./support/options.ts";
import { headerOf } from "./support/payments.ts";
import {
  forgeFor,
  ORIGIN,
  openShopWorld,
  PRICE,
  pay,
  type Settled,
  type ShopWorld,
  settle,
  verify,
} from "./support/world.ts";

const NOWHERE = "http://127.0.0.1:9";

function ask(paywall: Paywall, values: readonly string[] = [], target = "/paid/a", method = "GET"): Promise<Decision> {
  return paywall.decide({ method, target, header: (name) => (name === "x-payment-proof" ? values : []) });
}

describe("a paywall", () => {
  let world: ShopWorld;
  const opened: Paywall[] = [];
  const events: PaywallEvent[] = [];
  before(async () => {
    world = await openShopWorld();
  });
  afterEach(async () => {
    events.length = 0;
    for (const paywall of opened.splice(0)) await paywall.close();
  });

  async function open(changes: Partial<PaywallOptions> = {}): Promise<Paywall> {
    const paywall = await openPaywall(world, { onEvent: (event) => void events.push(event), ...changes });
    opened.push(paywall);
    return paywall;
  }
  const show = (paywall: Paywall, payment: Settled) => ask(paywall, [headerOf(payment)]);
  const chain = (changes: object) => ({ ...shopOptions(world).chain, ...changes });

  /** Status and whether it may pass later; "paid". */
  function told(decision: Decision): string {
    if (decision.kind !== "refused") return decision.kind;
    return `${decision.status}${"retry-after" in decision.headers ? " later" : ""}`;
  }

  it("asks one price in one body, with the headers of its other dialect beside its own", async () => {
    const onChallenge = ({ price, resource }: { price: bigint; resource: string }) => ({
      "PAYMENT-REQUIRED": `${price} ${resource}`,
      "access-control-expose-headers": "PAYMENT-REQUIRED",
    });
    const decision = await ask(await open({ onChallenge }));
    if (decision.kind !== "refused") throw new Error(decision.kind);
    expect(decision.headers).to.deep.equal({
      "cache-control": "no-store",
      vary: "X-Payment-Proof",
      "access-control-expose-headers": "WWW-Authenticate, Retry-After, PAYMENT-REQUIRED",
      "www-authenticate": "x402-zk",
      "payment-required": `${PRICE} ${ORIGIN}/paid/a`,
    });
    const hooks = [
      () => Promise.reject(new Error("no")),
      () => ({ "www-authenticate": "basic" }),
      () => ({ "bad header": "a" }),
      () => ({ a: "line\r\nbreak: b" }),
    ];
    for (const hook of hooks) {
      const plain = await ask(await open({ onChallenge: hook as NonNullable<PaywallOptions["onChallenge"]> }));
      expect(plain.kind === "refused" && [plain.status, plain.headers["www-authenticate"]]).to.deep.equal([
        402,
        "x402-zk",
      ]);
      expect(events.map(({ reason }) => reason)).to.include("CHALLENGE_HOOK");
    }
  });

  it("says 503 where the shop's own price fails, and tells the shop", async () => {
    const paywall = await open({
      price: () => {
        throw new Error("no prices today");
      },
    });
    expect(told(await ask(paywall))).to.equal("503 later");
    expect(events.map(({ event }) => event)).to.deep.equal(["trouble"]);
    expect(JSON.stringify(await ask(paywall))).not.to.include("today");
    expect(told(await ask(paywall, [], "/health"))).to.equal("free");
  });

  it("reads what it was paid, with the viewing key", async () => {
    const { viewingKey } = world.merchant;
    const paywall = await open({ recipient: { ...shopOptions(world).recipient, viewingKey } });
    const paid = await show(paywall, await pay(world, { amount: PRICE + 7n }));
    if (paid.kind !== "paid") throw new Error(told(paid));
    const { amount, bounds, settledThere, resource, wallet } = paid.payment;
    expect({ amount, bounds, settledThere, resource, wallet }).to.deep.equal({
      ...{ amount: PRICE + 7n, bounds: { lowerBound: PRICE, upperBound: 11_000n }, settledThere: true },
      ...{ resource: `${ORIGIN}/paid/a`, wallet: world.merchant.wallet },
    });
    // Proofs of development keys can say anything: this one says the price, and its note holds nothing that can be read.
    const lie = await show(paywall, await pay(world, { commitments: [randomField(), randomField()] }));
    expect([told(lie), events.at(-1)?.reason]).to.deep.equal(["402", "AMOUNT"]);
  });

  it("waits for the confirmations it was told, and says that it does", async () => {
    // Many, because the relayer makes blocks of its own.
    const confirmations = 30;
    const deep = await open({ chain: chain({ confirmations, settleWaitMs: 0 }) });
    const payment = await pay(world);
    const nowhere = { ...payment, txSignature: `0x${"00".repeat(32)}` };
    for (const shown of [payment, nowhere]) expect(told(await show(deep, shown))).to.equal("402 later");
    for (let block = 1; block < confirmations; block++) await world.provider.send("evm_mine", []);
    expect(told(await show(deep, payment))).to.equal("paid");
  });

  it("waits a little for a payment that is on its way", async () => {
    const paywall = await open({ chain: chain({ settleWaitMs: 20_000 }) });
    const bundle = forgeFor(world);
    const paymentToken = await verify(world, bundle);
    const early = show(paywall, { bundle, paymentToken, txSignature: `0x${"00".repeat(32)}` });
    await settle(world, bundle);
    const decision = await early;
    expect(decision.kind === "paid" && decision.payment.settledThere).to.equal(false);
  });

  it("takes a payment whatever the transaction it names, as long as the pool knows it", async () => {
    const paywall = await open();
    const [first, second] = [await pay(world), await pay(world)];
    const swapped = await show(paywall, { ...first, txSignature: second.txSignature });
    expect(swapped.kind === "paid" && swapped.payment.settledThere).to.equal(false);
    expect(told(await show(paywall, first))).to.equal("402 later");
    if (swapped.kind === "paid") await swapped.finish(200);
    expect(told(await show(paywall, first))).to.equal("402");
    expect(events.map(({ reason }) => reason)).to.deep.equal([undefined, "IN_USE", undefined, "USED"]);
  });

  it("takes a payment when some of its nodes are away, and loses none when all are", async () => {
    const payment = await pay(world);
    const some = await open({ chain: chain({ rpcUrls: [NOWHERE, world.node.url] }) });
    // One node that works at first.
    let up = true;
    const proxy = createServer(async (request, response) => {
      if (!up) return void response.destroy();
      const body = await new Response(request as never).text();
      response.end(await (await fetch(world.node.url, { method: "POST", body })).text());
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const all = await open({ chain: chain({ rpcUrls: [url] }) });
    up = false;
    expect(told(await show(all, payment))).to.equal("402 later");
    expect(events.at(-1)).to.include({ event: "unavailable", reason: "CHAIN_UNAVAILABLE" });
    up = true;
    const paid = await show(all, payment);
    if (paid.kind === "paid") await paid.finish(200);
    // Used is used: nobody has to be asked about that.
    up = false;
    expect(told(await show(all, payment))).to.equal("402");
    expect(events.at(-1)?.reason).to.equal("USED");
    expect(told(await show(some, payment))).to.equal("paid");
    proxy.close();
    proxy.closeAllConnections();
  });

  it("of memory takes nothing from before its start, and nothing before its time", async () => {
    const [before, ahead] = [await pay(world), await pay(world, { timestamp: Date.now() + 20_000 })];
    const paywall = await open({ store: "memory" });
    expect(told(await show(paywall, before))).to.equal("402");
    expect(events.at(-1)?.reason).to.equal("BEFORE_START");
    const decision = await show(paywall, ahead);
    expect([told(decision), events.at(-1)?.reason]).to.deep.equal(["402 later", "FROM_THE_FUTURE"]);
    expect(decision.kind === "refused" && Number(decision.headers["retry-after"])).to.be.within(1, 20);
  });

  it("does not look for a payment for ever, however often it is shown", async () => {
    const paywall = await open();
    const bundle = forgeFor(world);
    const shown = { bundle, paymentToken: await verify(world, bundle), txSignature: `0x${"00".repeat(32)}` };
    for (let i = 0; i < 64; i++) expect(told(await show(paywall, shown))).to.equal("402 later");
    expect(told(await show(paywall, shown))).to.equal("402");
    expect(events.at(-1)?.reason).to.equal("TOO_MANY_TRIES");
  });

  it("tells nobody what it was shown, and stands a hook that throws", async () => {
    const told: PaywallEvent[] = [];
    const onEvent = (event: PaywallEvent) => {
      told.push(event);
      throw new Error("the hook's own trouble");
    };
    const paywall = await open({ onEvent });
    const payment = await pay(world);
    const decision = await show(paywall, payment);
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

  it("that is closed takes no payments", async () => {
    const paywall = await open();
    await paywall.close();
    expect(told(await ask(paywall))).to.equal("503 later");
    await paywall.close();
  });
});
