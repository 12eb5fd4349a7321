// sotto's client pays at servers of the published mppx, with real settlements.
import { type Offer, openPurchases, type WrapOptions, wrapFetch } from "@sotto/client";
import { type MppOptions, mpp, type ReceivedReceipt } from "@sotto/mpp/client";
import type { PaywallRecipient } from "@sotto/resource-server";
import { clockWithin } from "@sotto/test-kit/clock";
import { rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { openWallet, openWorld, payerWith, until, type World } from "@sotto/test-world/wallets";
import type { Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import { signRecipient } from "../x402/support/resource-server.ts";
import { DESCRIPTION, type MppxServer, openMppxServer, PRICE } from "./support/mppx-server.ts";

describe("sotto's client at a server of the published mppx", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let merchant: Wallet;
  let payer: Wallet;
  let recipient: PaywallRecipient;
  let server: MppxServer | undefined;

  before(async () => {
    world = await openWorld();
    merchant = await openWallet(world);
    recipient = await signRecipient(world, Account.createRandom(), merchant.shieldedAddress);
    payer = await payerWith(
      world,
      Array.from({ length: 9 }, () => PRICE),
    );
  });
  afterEach(async () => {
    await server?.close();
    server = undefined;
  });

  const paying = (send: typeof fetch = fetch, options: MppOptions = {}) =>
    wrapFetch(send, payer, { services: [world.serviceUrl], maxPerRequest: PRICE, methods: [mpp(options)] });
  const received = async (): Promise<bigint> => {
    await merchant.scan();
    return merchant.balance().total;
  };

  for (const kind of ["plain Node", "Express", "Hono", "several methods"])
    it(`pays, and gets a receipt for it: ${kind}`, async () => {
      server = await openMppxServer(kind, world, recipient);
      const before = await received();
      const receipts: ReceivedReceipt[] = [];
      const pay = paying(fetch, { onReceipt: (one) => receipts.push(one) });
      const response = await pay(`${server.origin}/report`);
      expect([response.status, (await response.text()).replaceAll('"', "")]).to.deep.equal([200, "report"]);
      await until(async () => (await received()) === before + PRICE);
      expect(
        receipts.map(({ problem, receipt, txSignature }) => [problem, receipt?.reference === txSignature]),
      ).to.deep.equal([[undefined, true]]);
      expect([server.served(), await openPurchases(payer)]).to.deep.equal([1, []]);
    });

  it("counts what it pays against the limits per hour, host and tool", async () => {
    server = await openMppxServer("plain Node", world, recipient);
    const clock = clockWithin(3_600_000);
    const agent = await payerWith(world, [PRICE, PRICE], { clock });
    const pay = (limits: Partial<WrapOptions>) => {
      const options = { services: [world.serviceUrl], maxPerRequest: PRICE, methods: [mpp()] };
      return wrapFetch(fetch, agent, { ...options, ...limits })(`${server?.origin}/report`);
    };
    const tool = { name: "fetch_paid" };
    expect((await pay({ tool })).status).to.equal(200);
    for (const [limits, code] of [
      [{ maxPerHour: PRICE }, "HOUR_LIMIT_EXCEEDED"],
      [{ maxByHost: { "127.0.0.1": PRICE } }, "HOST_LIMIT_EXCEEDED"],
      [{ tool: { ...tool, perDay: PRICE } }, "TOOL_LIMIT_EXCEEDED"],
    ] as const)
      expect((await rejection(pay(limits))).code).to.equal(code);
    await agent.scan();
    expect([agent.balance().total, server.served()]).to.deep.equal([PRICE, 1]);
  });

  it("pays where a redirect within the origin leads to, and shows a description of any characters", async () => {
    server = await openMppxServer("plain Node", world, recipient);
    const stated: Offer["stated"][] = [];
    const pay = wrapFetch(fetch, payer, {
      services: [world.serviceUrl],
      maxPerRequest: PRICE,
      methods: [mpp()],
      confirmPayment: (offer) => stated.push(offer.stated) > 0,
    });
    const response = await pay(`${server.origin}/old`);
    expect([response.status, await response.text()]).to.deep.equal([200, "report"]);
    expect(stated).to.deep.equal([{ realm: "127.0.0.1", description: DESCRIPTION }]);
  });

  it("keeps the program's bearer token if the server takes credentials in another header", async () => {
    server = await openMppxServer("Express", world, recipient, { requiresAuth: true });
    const sent: Headers[] = [];
    const send: typeof fetch = (input, init) => {
      if (String(input).startsWith(server!.origin)) sent.push(new Headers(init?.headers));
      return fetch(input, init);
    };
    const headers = { authorization: "Bearer secret" };
    const response = await paying(send)(`${server.origin}/report`, { headers });
    expect(response.status).to.equal(200);
    expect(sent.map((each) => [each.get("authorization"), each.has("payment-authorization")])).to.deep.equal([
      ["Bearer secret", false],
      ["Bearer secret", true],
    ]);
  });

  it("pays nothing and returns the 402 if the server offers only other methods", async () => {
    server = await openMppxServer("only another method", world, recipient);
    const before = payer.balance().total;
    const response = await paying()(`${server.origin}/report`);
    expect(response.status).to.equal(402);
    expect(response.headers.get("www-authenticate")).to.match(/method="other"/);
    expect(await response.json()).to.include({ title: "Payment Required" });
    await payer.scan();
    expect([payer.balance().total, server.served()]).to.deep.equal([before, 0]);
  });

  it("is refused with a credential that was used, or that is for another path", async () => {
    server = await openMppxServer("plain Node", world, recipient);
    let credential = "";
    const send: typeof fetch = (input, init) => {
      credential = new Headers(init?.headers).get("authorization") ?? credential;
      return fetch(input, init);
    };
    await (await paying(send)(`${server.origin}/report`)).text();
    expect(credential).to.match(/^Payment /);
    for (const path of ["/report", "/other"]) {
      const again = await fetch(server.origin + path, { headers: { authorization: credential } });
      expect(again.status).to.equal(402);
    }
    expect(server.served()).to.equal(1);
  });

  it("does not pay again after an answer was lost and the server refused the proof", async () => {
    server = await openMppxServer("plain Node", world, recipient);
    const { origin } = server;
    let lost = 0;
    const send: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (!String(input).startsWith(origin) || !new Headers(init?.headers).has("authorization") || lost > 0)
        return response;
      lost += 1;
      throw new TypeError("the connection was lost");
    };
    const before = await received();
    const first = await rejection(paying(send)(`${origin}/report`));
    expect(first.code).to.equal("PAID_BUT_REFUSED");
    const second = await rejection(paying()(`${origin}/report`));
    expect(second.code).to.equal("PAID_BUT_REFUSED");
    await until(async () => (await received()) === before + PRICE);
    expect(server.served()).to.equal(1);
  });
});
