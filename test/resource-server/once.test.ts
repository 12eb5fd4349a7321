// One payment is used once: with concurrent and repeated requests, after failures and crashes, and across processes.

import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { join } from "node:path";
import type { Paywall, PaywallOptions } from "@sotto/resource-server";
import { describeMatrix } from "@sotto/test-kit/matrix";
import { slow } from "@sotto/test-kit/slow";
import { openPaywall, paywallOptions } from "@sotto/test-world/paywall/options";
import { headerOf, showing } from "@sotto/test-world/paywall/payments";
import { type MerchantWorld, openMerchantWorld, pay, type Settled } from "@sotto/test-world/paywall/world";
import { expect } from "chai";
import { INVALID } from "./support/counter.ts";
import { type ServerProcess, startServerProcess } from "./support/processes.ts";
import { ADAPTERS, type ResourceServer, type SaleHandler } from "./support/servers.ts";

const RACERS = 5;
/** Longer than any lease, but shorter than the time for which a payment is accepted. */
const LATER_MS = 150_000;

const show = (url: string, payment: Settled, target = "/paid/a") =>
  fetch(`${url}${target}`, { headers: showing(headerOf(payment)) });

/** Express 4 and 5 share an adapter; one of them is enough here. */
const SERVERS = new Map([...ADAPTERS].filter(([name]) => name !== "Express 4"));

describe("one payment", function () {
  slow(this, "a chain, a service and proofs");
  let world: MerchantWorld;
  before(async () => {
    world = await openMerchantWorld();
  });

  describeMatrix("on", SERVERS, (start, attack) => {
    let paywall: Paywall;
    let server: ResourceServer;
    let sell: SaleHandler;
    let sold = 0;
    before(async () => {
      paywall = await openPaywall(world);
      server = await start(paywall, (sale) => {
        sold += 1;
        return sell(sale);
      });
    });
    after(async () => {
      await server?.close();
      await paywall?.close();
    });
    beforeEach(() => {
      sold = 0;
      sell = () => ({ status: 200, text: "the goods" });
    });

    attack("runs the handler once for five concurrent identical headers", async () => {
      const payment = await pay(world);
      const answers = await Promise.all(Array.from({ length: RACERS }, () => show(server.url, payment)));
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 402, 402, 402, 402]);
      expect(sold).to.equal(1);
    });

    attack("is restored after a failure and can be used again, three times in all", async () => {
      const [lucky, unlucky] = [await pay(world), await pay(world)];
      sell = () => (sold < 3 ? { status: 500, text: "failed" } : { status: 200, text: "the goods" });
      const statuses: number[] = [];
      for (let time = 0; time < 5; time++) {
        const response = await show(server.url, lucky);
        await response.text();
        statuses.push(response.status);
      }
      expect(statuses).to.deep.equal([500, 500, 200, 402, 402]);
      sold = 0;
      sell = () => {
        throw new Error("from the handler");
      };
      statuses.length = 0;
      for (let time = 0; time < 5; time++) {
        const response = await show(server.url, unlucky);
        await response.text();
        statuses.push(response.status);
      }
      expect(statuses).to.deep.equal([500, 500, 500, 402, 402]);
      expect(sold).to.equal(3);
    });

    attack("stays consumed while its answer is read slowly", async () => {
      const payment = await pay(world);
      sell = () => ({ status: 200, text: "x".repeat(8 << 20) });
      const reading = httpRequest(`${server.url}/paid/a`, { headers: showing(headerOf(payment)) }).end();
      const [answer] = (await once(reading, "response")) as [IncomingMessage];
      // The client does not read, so the server cannot send the rest.
      answer.pause();
      const again = await show(server.url, payment);
      expect([again.status, again.headers.get("retry-after"), sold]).to.deep.equal([402, null, 1]);
      reading.destroy();
    });

    attack("is consumed by any other answer, also by an error of 4xx", async () => {
      const statuses = [204, 301, 404];
      const payments = await Promise.all(statuses.map(() => pay(world)));
      for (const [index, status] of statuses.entries()) {
        const payment = payments[index]!;
        sell = () => ({ status, text: "" });
        const first = await fetch(`${server.url}/paid/a`, { headers: showing(headerOf(payment)), redirect: "manual" });
        expect(first.status).to.equal(status);
        const second = await show(server.url, payment);
        expect([second.status, await second.json()]).to.deep.equal([402, INVALID]);
      }
    });
  });
});

describe("one payment across processes", function () {
  slow(this, "a chain, a service and proofs");
  let world: MerchantWorld;
  let store: string;
  /** Functions that close the servers of the current test, in order. */
  const opened: (() => Promise<unknown>)[] = [];
  before(async () => {
    world = await openMerchantWorld();
  });
  beforeEach(() => {
    store = `sqlite:${join(world.folder, `${randomUUID()}.sqlite`)}`;
  });
  afterEach(async () => {
    for (const end of opened.splice(0)) await end();
  });

  async function other(adapter: string): Promise<ServerProcess> {
    const server = await startServerProcess({ adapter, options: paywallOptions(world, { store }), ahead: 0 });
    opened.push(() => server.kill());
    return server;
  }

  /** Starts a server in this process, with its clock `ahead` ms ahead of the true time. */
  async function own(adapter: string, ahead = 0, changes: Partial<PaywallOptions> = { store }) {
    const paywall = await openPaywall(world, { ...changes, clock: () => Date.now() + ahead });
    let sold = 0;
    const server = await ADAPTERS.get(adapter)!(paywall, () => {
      sold += 1;
      return { status: 200, text: "the goods" };
    });
    const close = async () => {
      await server.close();
      await paywall.close();
    };
    opened.push(close);
    return { url: server.url, sold: () => sold, close };
  }

  it("runs one handler once if sent to two servers that share a store", async () => {
    const servers = [await other("Express 5"), await own("Hono")];
    for (let round = 0; round < 3; round++) {
      const payment = await pay(world);
      const racing = Array.from({ length: 2 * RACERS }, (_, index) => show(servers[index % 2]!.url, payment));
      const statuses = (await Promise.all(racing)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 200).length).to.equal(1);
      expect(statuses.filter((status) => status === 402).length).to.equal(2 * RACERS - 1);
      expect(servers[0]!.sold() + servers[1]!.sold()).to.equal(round + 1);
    }
  });

  it("can be used again if its server was killed in the handler, once the lease expires; a served one stays consumed", async () => {
    const first = await other("Express 5");
    const [payment, spent] = [await pay(world, { target: "/paid/slow" }), await pay(world)];
    expect((await show(first.url, spent)).status).to.equal(200);
    const begun = first.nextSale();
    const cut = show(first.url, payment, "/paid/slow").catch(() => "no answer");
    await begun;
    await first.kill();
    expect(await cut).to.equal("no answer");

    const soon = await own("Express 5");
    const refused = await show(soon.url, payment, "/paid/slow");
    expect(refused.status).to.equal(402);
    expect(Number(refused.headers.get("retry-after"))).to.be.within(1, LATER_MS / 1000);
    expect((await show(soon.url, spent)).status).to.equal(402);
    expect(soon.sold()).to.equal(0);

    const later = await own("Express 5", LATER_MS);
    expect((await show(later.url, spent)).status).to.equal(402);
    expect((await show(later.url, payment, "/paid/slow")).status).to.equal(200);
    expect(later.sold()).to.equal(1);
  });

  it("is not accepted by a server without a store if it is older than the server", async () => {
    const first = await own("Fastify", 0, { store: "memory" });
    const payment = await pay(world);
    expect((await show(first.url, payment)).status).to.equal(200);
    await first.close();
    const second = await own("Fastify", 0, { store: "memory" });
    const refused = await show(second.url, payment);
    expect([refused.status, await refused.json()]).to.deep.equal([402, INVALID]);
    expect(second.sold()).to.equal(0);
    expect((await show(second.url, await pay(world))).status).to.equal(200);
  });
});
