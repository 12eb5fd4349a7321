// When a paywall accepts a payment as settled, on a real chain: how long it waits, which nodes it asks, when it gives
// up.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { slow } from "@sotto/test-kit/slow";
import { forgeFor, type MerchantWorld, openMerchantWorld, pay, settle, verify } from "@sotto/test-world/paywall/world";
import { expect } from "chai";
import { CorePaywalls, told } from "./support/core.ts";

const NOWHERE = "http://127.0.0.1:9";

describe("a paywall that checks a settlement", function () {
  slow(this, "a chain, a service and proofs");
  let world: MerchantWorld;
  let core: CorePaywalls;
  before(async () => {
    world = await openMerchantWorld();
    core = new CorePaywalls(world);
  });
  afterEach(() => core.closeAll());

  it("waits for its confirmations, and answers with Retry-After", async () => {
    // Requires many confirmations, because the relayer's transactions create blocks too.
    const confirmations = 30;
    const deep = await core.open({ chain: core.chain({ confirmations, settleWaitMs: 0 }) });
    const payment = await pay(world);
    const nowhere = { ...payment, txSignature: `0x${"00".repeat(32)}` };
    for (const shown of [payment, nowhere]) expect(told(await core.show(deep, shown))).to.equal("402 later");
    for (let block = 1; block < confirmations; block++) await world.provider.send("evm_mine", []);
    expect(told(await core.show(deep, payment))).to.equal("paid");
  });

  it("waits briefly for a pending payment", async () => {
    const paywall = await core.open({ chain: core.chain({ settleWaitMs: 30_000 }) });
    const bundle = forgeFor(world);
    const paymentToken = await verify(world, bundle);
    const early = core.show(paywall, { bundle, paymentToken, txSignature: `0x${"00".repeat(32)}` });
    await settle(world, bundle);
    const decision = await early;
    expect(decision.kind === "paid" && decision.payment).to.include({ kind: "payment", settledThere: false });
  });

  it("accepts a payment with any transaction hash if the pool has it", async () => {
    const paywall = await core.open();
    const [first, second] = [await pay(world), await pay(world)];
    const swapped = await core.show(paywall, { ...first, txSignature: second.txSignature });
    expect(swapped.kind === "paid" && swapped.payment).to.include({ kind: "payment", settledThere: false });
    expect(told(await core.show(paywall, first))).to.equal("402 later");
    if (swapped.kind === "paid") await swapped.finish(200);
    expect(told(await core.show(paywall, first))).to.equal("402");
    expect(core.events.map(({ reason }) => reason)).to.deep.equal([undefined, "IN_USE", undefined, "USED"]);
  });

  it("accepts a payment if some nodes are unreachable, and loses no payment if all are", async () => {
    const payment = await pay(world);
    const some = await core.open({ chain: core.chain({ rpcUrls: [NOWHERE, world.node.url] }) });
    // A single node, which works at first.
    let up = true;
    const proxy = createServer(async (request, response) => {
      if (!up) return void response.destroy();
      const body = await new Response(request as never).text();
      response.end(await (await fetch(world.node.url, { method: "POST", body })).text());
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const all = await core.open({ chain: core.chain({ rpcUrls: [url] }) });
    up = false;
    expect(told(await core.show(all, payment))).to.equal("402 later");
    expect(core.events.at(-1)).to.include({ event: "unavailable", reason: "CHAIN_UNAVAILABLE" });
    up = true;
    const paid = await core.show(all, payment);
    if (paid.kind === "paid") await paid.finish(200);
    // The paywall rejects a used payment without a request to the chain.
    up = false;
    expect(told(await core.show(all, payment))).to.equal("402");
    expect(core.events.at(-1)?.reason).to.equal("USED");
    expect(told(await core.show(some, payment))).to.equal("paid");
    proxy.close();
    proxy.closeAllConnections();
  });

  it("accepts no payment from before its start if it has no store", async () => {
    const before = await pay(world);
    const now = Date.now();
    const ahead = await pay(world, { timestamp: now + 20_000 });
    const paywall = await core.open({ store: "memory", clock: () => now });
    expect(told(await core.show(paywall, before))).to.equal("402");
    expect(core.events.at(-1)?.reason).to.equal("BEFORE_START");
    const decision = await core.show(paywall, ahead);
    expect([told(decision), core.events.at(-1)?.reason]).to.deep.equal(["402 later", "FROM_THE_FUTURE"]);
    expect(decision.kind === "refused" && Number(decision.headers["retry-after"])).to.be.within(1, 20);
  });

  it("does not search forever for a payment that is shown repeatedly", async () => {
    const paywall = await core.open();
    const bundle = forgeFor(world);
    const shown = { bundle, paymentToken: await verify(world, bundle), txSignature: `0x${"00".repeat(32)}` };
    for (let i = 0; i < 64; i++) expect(told(await core.show(paywall, shown))).to.equal("402 later");
    expect(told(await core.show(paywall, shown))).to.equal("402");
    expect(core.events.at(-1)?.reason).to.equal("TOO_MANY_TRIES");
  });
});
