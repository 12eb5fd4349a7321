// An agent's path from a 402 to the goods: real chain, real service, a small shop.

import { openPurchases, type PurchaseStage, spentOn, wrapFetch } from "@sotto/client";
import { expect } from "chai";
import { clockWithin, DAY_MS } from "../kit/clock.ts";
import { slow } from "../kit/slow.ts";
import { Shop } from "../world/small-server.ts";
import { openWallet, openWorld, payerWith, type World } from "../world/wallets.ts";

const PRICE = 10_000n;

describe("paying fetch", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let shop: Shop;
  before(async () => {
    world = await openWorld();
    shop = await Shop.open(world, await openWallet(world), { price: PRICE });
  });
  after(() => shop?.close());
  const options = () => ({ services: [world.serviceUrl], maxPerRequest: PRICE });

  it("does not touch free responses", async () => {
    const wallet = await openWallet(world);
    const response = await wrapFetch(fetch, wallet, options())(`${shop.url}/free`);
    expect(await response.text()).to.equal("free");
    expect(await openPurchases(wallet)).to.deep.equal([]);
  });

  it("pays a 402 and returns the resource", async () => {
    const clock = clockWithin(DAY_MS);
    const wallet = await payerWith(world, [1_000_000n], { clock });
    const stages: PurchaseStage[] = [];
    const pay = wrapFetch(fetch, wallet, { ...options(), onProgress: ({ stage }) => void stages.push(stage) });
    const before = await shop.received();
    const response = await pay(`${shop.url}/report?lang=en#top`);
    expect([response.status, await response.text()]).to.deep.equal([200, "sold /report?lang=en "]);
    expect(await shop.received()).to.equal(before + PRICE);
    await wallet.scan();
    expect(wallet.balance().total).to.equal(990_000n);
    expect(await openPurchases(wallet)).to.deep.equal([]);
    expect(await spentOn(wallet.store, clock())).to.equal(PRICE);
    expect(await spentOn(wallet.store, clock(), shop.host)).to.equal(PRICE);
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
});
