// One payment, one use: raced, repeated, after failures, after crashes, between processes.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Paywall } from "@sotto/resource-server";
import { expect } from "chai";
import { INVALID } from "./support/counter.ts";
import { openPaywall, shopOptions } from "./support/options.ts";
import { headerOf, showing } from "./support/payments.ts";
import { type ShopProcess, startShopProcess } from "./support/processes.ts";
import { ADAPTERS, type Seller, type Shop } from "./support/shops.ts";
import { openShopWorld, pay, type Settled, type ShopWorld } from "./support/world.ts";

const RACERS = 5;
/** Longer than any lease, shorter than a payment is shown for. */
const LATER_MS = 150_000;

const show = (url: string, payment: Settled, target = "/paid/a") =>
  fetch(`${url}${target}`, { headers: showing(headerOf(payment)) });

for (const [name, start] of ADAPTERS)
  describe(`one payment on ${name}`, () => {
    let world: ShopWorld;
    let paywall: Paywall;
    let shop: Shop;
    let sell: Seller;
    let sold = 0;
    before(async () => {
      world = await openShopWorld();
      paywall = await openPaywall(world);
      shop = await start(paywall, (sale) => {
        sold += 1;
        return sell(sale);
      });
    });
    after(async () => {
      await shop?.close();
      await paywall?.close();
    });
    beforeEach(() => {
      sold = 0;
      sell = () => ({ status: 200, text: "the goods" });
    });

    it("five identical headers at once run the handler once", async () => {
      const payment = await pay(world);
      const answers = await Promise.all(Array.from({ length: RACERS }, () => show(shop.url, payment)));
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 402, 402, 402, 402]);
      expect(sold).to.equal(1);
    });

    it("is not used up by a failure, and can be shown again at once, three times in all", async () => {
      const [lucky, unlucky] = [await pay(world), await pay(world)];
      sell = () => (sold < 3 ? { status: 500, text: "failed" } : { status: 200, text: "the goods" });
      const statuses: number[] = [];
      for (let time = 0; time < 5; time++) {
        const response = await show(shop.url, lucky);
        await response.text();
        statuses.push(response.status);
      }
      expect(statuses).to.deep.equal([500, 500, 200, 402, 402]);
      sold = 0;
      sell = () => {
        throw new Error("of the shop");
      };
      statuses.length = 0;
      for (let time = 0; time < 5; time++) {
        const response = await show(shop.url, unlucky);
        await response.text();
        statuses.push(response.status);
      }
      expect(statuses).to.deep.equal([500, 500, 500, 402, 402]);
      expect(sold).to.equal(3);
    });

    it("is used up while its answer is still being read, however slowly", async () => {
      const payment = await pay(world);
      sell = () => ({ status: 200, text: "x".repeat(32 << 20) });
      const reading = httpRequest(`${shop.url}/paid/a`, { headers: showing(headerOf(payment)) }).end();
      const [answer] = (await once(reading, "response")) as [IncomingMessage];
      // Nobody reads: the server cannot send the rest.
      answer.pause();
      const again = await show(shop.url, payment);
      expect([again.status, again.headers.get("retry-after"), sold]).to.deep.equal([402, null, 1]);
      reading.destroy();
    });

    it("is used up by any other answer, also by one that says no", async () => {
      const statuses = [204, 301, 404];
      const payments = await Promise.all(statuses.map(() => pay(world)));
      for (const [index, status] of statuses.entries()) {
        const payment = payments[index]!;
        sell = () => ({ status, text: "" });
        const first = await fetch(`${shop.url}/paid/a`, { headers: showing(headerOf(payment)), redirect: "manual" });
        expect(first.status).to.equal(status);
        const second = await show(shop.url, payment);
        expect([second.status, await second.json()]).to.deep.equal([402, INVALID]);
      }
    });
  });

describe("one payment between processes", () => {
  let world: ShopWorld;
  let folder: string;
  const running: ShopProcess[] = [];
  before(async () => {
    world = await openShopWorld();
  });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "sotto-shop-"));
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((shop) => shop.kill()));
    rmSync(folder, { recursive: true, force: true });
  });

  async function open(adapter: string, store: string, ahead = 0): Promise<ShopProcess> {
    const shop = await startShopProcess({ adapter, options: shopOptions(world, { store }), ahead });
    running.push(shop);
    return shop;
  }
  const shared = () => `sqlite:${join(folder, "payments.sqlite")}`;

  it("raced against two servers that share a store runs one handler, once", async () => {
    const shops = await Promise.all([open("Express 5", shared()), open("Hono", shared())]);
    for (let round = 0; round < 3; round++) {
      const payment = await pay(world);
      const racing = Array.from({ length: 2 * RACERS }, (_, index) => show(shops[index % 2]!.url, payment));
      const statuses = (await Promise.all(racing)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 200).length).to.equal(1);
      expect(statuses.filter((status) => status === 402).length).to.equal(2 * RACERS - 1);
      expect(shops[0]!.sold() + shops[1]!.sold()).to.equal(round + 1);
    }
  });

  it("is given back when its server is killed in the handler, once the lease is over", async () => {
    const first = await open("Express 5", shared());
    const payment = await pay(world, { target: "/paid/slow" });
    const begun = first.nextSale();
    const cut = show(first.url, payment, "/paid/slow").catch(() => "no answer");
    await begun;
    await first.kill();
    expect(await cut).to.equal("no answer");

    const soon = await open("Express 5", shared());
    const refused = await show(soon.url, payment, "/paid/slow");
    expect(refused.status).to.equal(402);
    expect(Number(refused.headers.get("retry-after"))).to.be.within(1, LATER_MS / 1000);
    expect(soon.sold()).to.equal(0);

    const later = await open("Express 5", shared(), LATER_MS);
    const again = later.nextSale();
    void show(later.url, payment, "/paid/slow").catch(() => undefined);
    await again;
    expect(later.sold()).to.equal(1);
  });

  it("is not sold again after a restart: a store of the disk remembers, one of memory refuses what is older", async () => {
    for (const store of [shared(), "memory"]) {
      const first = await open("Fastify", store);
      const payment = await pay(world);
      expect((await show(first.url, payment)).status).to.equal(200);
      await first.kill();
      const second = await open("Fastify", store);
      const refused = await show(second.url, payment);
      expect([store, refused.status, await refused.json()]).to.deep.equal([store, 402, INVALID]);
      expect(second.sold()).to.equal(0);
      const fresh = await pay(world);
      expect((await show(second.url, fresh)).status).to.equal(200);
    }
  });
});
