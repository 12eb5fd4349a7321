// The client's path from a 402 to the response, with a real chain, a real service and a small server.

import { type Offer, openPurchases, type PurchaseStage, quotePayment, spentOn, wrapFetch } from "@sotto/client";
import { clockWithin, DAY_MS } from "@sotto/test-kit/clock";
import { rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { SmallServer } from "@sotto/test-world/small-server";
import { openWallet, openWorld, payerWith, type World } from "@sotto/test-world/wallets";
import { expect } from "chai";

const PRICE = 10_000n;

describe("paying fetch", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let server: SmallServer;
  before(async () => {
    world = await openWorld();
    server = await SmallServer.open(world, await openWallet(world), { price: PRICE });
  });
  after(() => server?.close());
  const options = () => ({ services: [world.serviceUrl], maxPerRequest: PRICE });

  it("does not touch free responses", async () => {
    const wallet = await openWallet(world);
    const response = await wrapFetch(fetch, wallet, options())(`${server.url}/free`);
    expect(await response.text()).to.equal("free");
    expect(await openPurchases(wallet)).to.deep.equal([]);
  });

  it("pays a 402 and returns the resource", async () => {
    const clock = clockWithin(DAY_MS);
    const wallet = await payerWith(world, [1_000_000n], { clock });
    const stages: PurchaseStage[] = [];
    const pay = wrapFetch(fetch, wallet, { ...options(), onProgress: ({ stage }) => void stages.push(stage) });
    const before = await server.received();
    const response = await pay(`${server.url}/report?lang=en#top`);
    expect([response.status, await response.text()]).to.deep.equal([200, "sold /report?lang=en "]);
    expect(await server.received()).to.equal(before + PRICE);
    await wallet.scan();
    expect(wallet.balance().total).to.equal(990_000n);
    expect(await openPurchases(wallet)).to.deep.equal([]);
    expect(await spentOn(wallet.store, clock())).to.equal(PRICE);
    expect(await spentOn(wallet.store, clock(), server.host)).to.equal(PRICE);
    expect(stages).to.deep.equal([
      "challenge",
      "recipient",
      "proving",
      "verifying",
      "settling",
      "confirming",
      "paid",
      "presenting",
      "delivered",
    ]);
  });

  it("asks confirmPayment with the checked terms, and pays nothing unless it returns true", async () => {
    const wallet = await payerWith(world, [1_000_000n]);
    const url = `${server.url}/confirmed`;
    const offers: Offer[] = [];
    const asking = (answer: boolean) =>
      wrapFetch(fetch, wallet, {
        ...options(),
        confirmPayment: (offer) => {
          offers.push(offer);
          return answer;
        },
      });
    const before = await server.received();
    expect((await rejection(asking(false)(url))).code).to.equal("PAYMENT_DECLINED");
    expect(await server.received()).to.equal(before);
    expect(await openPurchases(wallet)).to.deep.equal([]);
    expect(await spentOn(wallet.store, wallet.now())).to.equal(0n);
    expect(await (await asking(true)(url)).text()).to.equal("sold /confirmed ");
    const [declined, confirmed] = offers;
    expect(confirmed).to.deep.equal(declined);
    expect(declined).to.deep.include({ host: server.host, price: PRICE, resourceUrl: url, service: world.serviceUrl });
  });

  it("quotes a price without paying or writing to the store", async () => {
    const wallet = await openWallet(world);
    const before = await wallet.store.list("");
    const { services } = options();
    const { offer } = await quotePayment(fetch, wallet, { services }, `${server.url}/quoted`);
    expect(offer).to.include({ price: PRICE, host: server.host });
    const free = await quotePayment(fetch, wallet, { services }, `${server.url}/free`);
    expect(await free.response?.text()).to.equal("free");
    expect(await wallet.store.list("")).to.deep.equal(before);
  });
});
