// A purchase that is interrupted between generating and sending the proof, from a server that then changes its terms.

import { openPurchases, wrapFetch } from "@sotto/client";
import { randomSeed } from "@sotto/protocol";
import { slow } from "@sotto/test-kit/slow";
import { SmallServer } from "@sotto/test-world/small-server";
import { openWallet, openWorld, payerWith, type World } from "@sotto/test-world/wallets";
import { MemoryStore, type Store } from "@sotto/wallet";
import { expect } from "chai";
import { dyingStore } from "../../packages/wallet/test/support/world.ts";

describe("a purchase whose terms change after a crash", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let server: SmallServer;
  before(async () => {
    world = await openWorld();
    server = await SmallServer.open(world, await openWallet(world), { price: 10_000n });
  });
  after(() => server?.close());

  /** Fails when the client is about to record that it sends a proof, and on every later write. */
  const diesBeforeSending = (store: Store): Store => {
    let dead = false;
    const write = async (action: () => Promise<void>) => {
      if (dead) throw new Error("the process died");
      return action();
    };
    return {
      ...dyingStore(store, Number.POSITIVE_INFINITY, false),
      put: async (key, value, expected) => {
        const { sent } = Object(value) as { sent?: unknown[] };
        dead ||= key.startsWith("purchase/") && sent?.length === 1;
        return write(() => store.put(key, value, expected));
      },
      batch: (changes) => write(() => store.batch(changes)),
      delete: (key, expected) => write(() => store.delete(key, expected)),
    };
  };

  it("pays on the new terms, never with the old proof", async () => {
    const [seed, store] = [randomSeed(), new MemoryStore()];
    await payerWith(world, [50_000n, 60_000n], { seed, store });
    const options = { services: [world.serviceUrl], maxPerRequest: 20_000n };
    const dying = await openWallet(world, { seed, store: diesBeforeSending(store) });
    const died = await wrapFetch(fetch, dying, options)(`${server.url}/report`).catch((error: Error) => error);
    expect(died).to.include({ message: "the process died" });
    const again = await openWallet(world, { seed, store: dyingStore(store, Number.POSITIVE_INFINITY, false) });
    expect(await openPurchases(again)).to.have.length(1);
    server.options.price = 15_000n;
    const response = await wrapFetch(fetch, again, options)(`${server.url}/report`);
    expect(response.status).to.equal(200);
    expect(await server.received()).to.equal(15_000n);
    expect(await openPurchases(again)).to.deep.equal([]);
  });
});
