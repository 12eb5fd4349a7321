// The client's path from a 402 to the response, with a real chain, a real service and a small server.

import { openPurchases, type PurchaseStage, spentOn, wrapFetch } from "@sotto/client";
import { expect } from "chai";
import { clockWithin, DAY_MS } from "../kit/clock.ts";
import { slow } from "../kit/slow.ts";
import { SmallServer } from "../world/small-server.ts";
import { openWallet, openWorld, payerWith, type World } from "../world/wallets.ts";

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
});
