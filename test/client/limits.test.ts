// Limits apply to any number of concurrent requests, and failed payments release their share of a limit.

import { openPurchases, type PayingFetch, spentOn, type WrapOptions, wrapFetch } from "@sotto/client";
import { SottoError } from "@sotto/protocol";
import { clockWithin, DAY_MS } from "@sotto/test-kit/clock";
import { rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { SmallServer } from "@sotto/test-world/small-server";
import { openWallet, openWorld, payerWith, type World } from "@sotto/test-world/wallets";
import type { Wallet } from "@sotto/wallet";
import { expect } from "chai";

const PRICE = 10_000n;

describe("limits", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let server: SmallServer;
  let other: SmallServer;
  const clock = clockWithin(DAY_MS);
  before(async () => {
    world = await openWorld();
    const owner = await openWallet(world);
    server = await SmallServer.open(world, owner, { price: PRICE });
    other = await SmallServer.open(world, owner, { price: PRICE });
  });
  after(async () => {
    await server?.close();
    await other?.close();
  });
  const paying = (wallet: Wallet, limits: Partial<WrapOptions>) =>
    wrapFetch(fetch, wallet, { services: [world.serviceUrl], maxPerRequest: PRICE, ...limits });

  /** Sends these requests concurrently. @returns the number of paid requests, and the error codes of the others */
  async function race(pay: PayingFetch, urls: string[]) {
    const results = await Promise.allSettled(urls.map((url) => pay(url)));
    const codes = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    for (const error of codes) expect(error).to.be.instanceOf(SottoError);
    return { paid: results.length - codes.length, codes: codes.map((error: SottoError) => error.code) };
  }

  it("per day apply to concurrent requests from two wrappers of one wallet", async () => {
    const wallet = await payerWith(
      world,
      Array.from({ length: 6 }, () => 50_000n),
      { clock },
    );
    const limits = { maxPerDay: 3n * PRICE + PRICE - 1n };
    const [one, two] = [paying(wallet, limits), paying(wallet, limits)];
    const urls = [1, 2, 3].map((n) => `${server.url}/day/${n}`);
    const before = server.sales.length;
    const [first, second] = await Promise.all([race(one, urls), race(two, urls)]);
    expect(first.paid + second.paid).to.equal(3);
    expect(new Set([...first.codes, ...second.codes])).to.deep.equal(new Set(["DAY_LIMIT_EXCEEDED"]));
    expect(server.sales.length - before).to.equal(3);
    // There are enough notes for every request.
    expect(new Set(server.sales.slice(before).map(({ nullifier }) => nullifier)).size).to.equal(3);
    await wallet.scan();
    expect(wallet.balance().total).to.equal(300_000n - 3n * PRICE);
    expect(await spentOn(wallet.store, clock())).to.equal(3n * PRICE);
    const error = await rejection(one(urls[0]!));
    expect(error.details).to.deep.equal({
      price: "10000",
      spent: "30000",
      limit: "39999",
      until: new Date(Math.ceil(clock() / DAY_MS) * DAY_MS).toISOString().replace(".000Z", "Z"),
    });
  });

  it("per host apply to all ports of a host together", async () => {
    const wallet = await payerWith(
      world,
      Array.from({ length: 4 }, () => 50_000n),
      { clock },
    );
    const pay = paying(wallet, { maxPerHost: PRICE });
    const urls = [server, server, other, other].map(({ url }, n) => `${url}/host/${n}`);
    const { paid, codes } = await race(pay, urls);
    expect([paid, new Set(codes)]).to.deep.equal([1, new Set(["HOST_LIMIT_EXCEEDED"])]);
    expect(await spentOn(wallet.store, clock(), server.host)).to.equal(PRICE);
  });

  it("do not count attempts that failed for lack of funds", async () => {
    const wallet = await payerWith(world, [10_000n], { clock });
    const dear = await SmallServer.open(world, await openWallet(world), { price: PRICE + 1n });
    const pay = paying(wallet, { maxPerRequest: PRICE + 1n, maxPerDay: PRICE + 1n });
    for (const n of [1, 2, 2, 3]) {
      expect((await rejection(pay(`${dear.url}/begun/${n}`))).code).to.equal("INSUFFICIENT_FUNDS");
      expect([await spentOn(wallet.store, clock()), await openPurchases(wallet)]).to.deep.equal([0n, []]);
    }
    await dear.close();
  });

  it("do not count an attempt that was aborted during a split", async () => {
    const wallet = await payerWith(world, [50_000n], { clock });
    const abort = new AbortController();
    const reason = new Error("enough");
    const pay = paying(wallet, {
      maxPerDay: PRICE,
      split: { notes: 2, amount: PRICE },
      onProgress: ({ stage }) => void (stage === "split" && abort.abort(reason)),
    });
    const stopped = await pay(`${server.url}/split`, { signal: abort.signal }).catch((error: unknown) => error);
    expect(stopped).to.equal(reason);
    expect([await spentOn(wallet.store, clock()), await openPurchases(wallet)]).to.deep.equal([0n, []]);
  });

  it("are required in base units, and services as URLs", async () => {
    const wallet = await openWallet(world);
    for (const wrong of [
      { services: [] },
      { services: undefined },
      { services: ["not a url"] },
      { services: ["ftp://pay.example"] },
      { maxPerRequest: 1_000 },
      { maxPerRequest: undefined },
      { maxPerRequest: -1n },
      { maxPerDay: 1n << 64n },
      { maxPerHost: 0.5 },
      { split: { notes: 1, amount: 1n } },
      { split: { notes: 2, amount: 0n } },
    ]) {
      const options = { services: [world.serviceUrl], maxPerRequest: PRICE, ...wrong } as unknown as WrapOptions;
      expect(() => wrapFetch(fetch, wallet, options), JSON.stringify(Object.keys(wrong))).to.throw(SottoError);
    }
  });
});
