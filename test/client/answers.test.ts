// Servers that fail, refuse, redirect or hang up on a request with a proof. The client sends the proof to no other
// server, and never pays twice.

import { dismissPurchase, openPurchases, type PayingFetch, PurchaseError, wrapFetch } from "@sotto/client";
import { rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { SmallServer } from "@sotto/test-world/small-server";
import { openWallet, openWorld, payerWith, type World } from "@sotto/test-world/wallets";
import type { Wallet } from "@sotto/wallet";
import { expect } from "chai";

const PRICE = 10_000n;

describe("a paid request", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let server: SmallServer;
  let wallet: Wallet;
  let pay: PayingFetch;
  before(async () => {
    world = await openWorld();
    server = await SmallServer.open(world, await openWallet(world), { price: PRICE });
    wallet = await payerWith(
      world,
      Array.from({ length: 18 }, () => 20_000n),
    );
    pay = wrapFetch(fetch, wallet, { services: [world.serviceUrl], maxPerRequest: PRICE, retryDelayMs: 20 });
  });
  after(() => server?.close());
  afterEach(() => {
    delete server.options.misbehave;
  });
  /** Notes spent so far. */
  const payments = async () => {
    await wallet.scan();
    return wallet.history().filter(({ state }) => state === "settled").length;
  };

  it("is sent at most three times with the same proof after server errors, and again by the next equal request", async () => {
    const before = await payments();
    let failures = 2;
    server.options.misbehave = (_, response, proof) => {
      if (proof === undefined || failures-- <= 0) return false;
      response.writeHead(failures === 0 ? 500 : 503, { "retry-after": "0" }).end("broken");
      return true;
    };
    expect(await (await pay(`${server.url}/fails/twice`)).text()).to.equal("sold /fails/twice ");
    expect(await payments()).to.equal(before + 1);

    failures = 3;
    const shown = server.shown;
    const response = await pay(`${server.url}/fails/often`);
    expect([response.status, server.shown - shown]).to.deep.equal([500, 3]);
    expect((await openPurchases(wallet)).map(({ state }) => state)).to.deep.equal(["paid"]);
    const challenges = server.challenges;
    expect(await (await pay(`${server.url}/fails/often`)).text()).to.equal("sold /fails/often ");
    expect([server.challenges, await payments()]).to.deep.equal([challenges, before + 2]);
  });

  it("is retried with the same proof if the response breaks off", async () => {
    const before = await payments();
    let failures = 2;
    server.options.misbehave = (request, _, proof) => {
      if (proof === undefined || failures-- <= 0) return false;
      request.socket.destroy();
      return true;
    };
    expect(await (await pay(`${server.url}/hangs`)).text()).to.equal("sold /hangs ");
    expect(await payments()).to.equal(before + 1);
  });

  it("is retried later without another payment after Retry-After, or if the server is busy", async () => {
    const before = await payments();
    for (const [status, headers] of [
      [402, { "retry-after": "0" }],
      [429, {}],
    ] as const) {
      server.options.misbehave = (_, response, proof) => {
        if (proof === undefined) return false;
        response.writeHead(status, headers).end(JSON.stringify({ code: "CHECK_UNAVAILABLE" }));
        return true;
      };
      const answer = pay(`${server.url}/busy/${status}`);
      if (status === 429) expect((await answer).status).to.equal(429);
      else expect((await rejection(answer)).details).to.include({ status: 402, reason: "CHECK_UNAVAILABLE" });
      delete server.options.misbehave;
      expect(await (await pay(`${server.url}/busy/${status}`)).text()).to.equal(`sold /busy/${status} `);
    }
    expect(await payments()).to.equal(before + 2);
  });

  it("fails with the server's reason and the details for a refund if it is refused, without a second payment", async () => {
    const before = await payments();
    for (const status of [402, 400]) {
      const url = `${server.url}/refused/${status}`;
      server.options.misbehave = (_, response, proof) => {
        if (proof === undefined) return false;
        response.writeHead(status, { "www-authenticate": "x402-zk" });
        response.end(JSON.stringify({ error: "Invalid payment proof", message: "not\r\nto my \u001b[31mtaste" }));
        return true;
      };
      const error = await rejection(pay(url));
      expect(error).to.be.instanceOf(PurchaseError);
      expect(error.code).to.equal("PAID_BUT_REFUSED");
      expect(error.details).to.include({
        status,
        reason: "Invalid payment proof: not to my [31mtaste",
        amount: "10000",
        resource: url,
        recipient: server.account.address.toLowerCase(),
      });
      for (const name of ["txSignature", "digest"]) expect(error.details[name]).to.match(/^0x[0-9a-f]{64}$/);
      expect(error.details["nullifier"]).to.match(/^\d+$/);
      delete server.options.misbehave;
      // The next equal call fails with the same error, without a request or a payment.
      const challenges = server.challenges;
      const again = await rejection(pay(url));
      expect([again.code, again.details]).to.deep.equal([error.code, error.details]);
      expect(server.challenges).to.equal(challenges);
      await dismissPurchase(wallet, String(error.details["id"]));
      expect((await rejection(dismissPurchase(wallet, String(error.details["id"])))).code).to.equal("UNKNOWN_PURCHASE");
      expect((await pay(url)).status).to.equal(200);
    }
    expect(await payments()).to.equal(before + 4);
  });

  it("fails without waiting for the end of an endless refusal", async () => {
    server.options.misbehave = (_, response, proof) => {
      if (proof === undefined) return false;
      response.writeHead(400).on("drain", () => response.write("no ".repeat(100_000)));
      response.write("no ".repeat(100_000));
      return true;
    };
    const error = await rejection(pay(`${server.url}/refused/without-end`));
    expect([error.code, error.details["reason"]]).to.deep.equal(["PAID_BUT_REFUSED", "no reason given"]);
    await dismissPurchase(wallet, String(error.details["id"]));
  });

  it("does not send the proof to a redirect's target", async () => {
    const before = await payments();
    const thief = await SmallServer.open(world, await openWallet(world), { price: PRICE });
    for (const [status, location] of [
      [302, `${thief.url}/stolen`],
      [307, `${thief.url}/stolen`],
      [307, `${server.url}/elsewhere`],
    ] as const) {
      server.options.misbehave = (_, response, proof) => {
        if (proof === undefined) return false;
        response.writeHead(status, { location }).end();
        return true;
      };
      const shown = server.shown;
      const response = await pay(`${server.url}/redirects`);
      expect([response.status, response.headers.get("location")]).to.deep.equal([status, location]);
      expect(server.shown - shown).to.equal(1);
    }
    expect([thief.shown, thief.challenges]).to.deep.equal([0, 0]);
    await thief.close();
    expect(await payments()).to.equal(before + 3);
  });

  it("is retried at a redirect's target, not at the redirecting URL", async () => {
    const before = await payments();
    let failures = 3;
    server.options.misbehave = (request, response, proof) => {
      if (request.url === "/old") response.writeHead(302, { location: "/new" }).end();
      else if (proof === undefined || failures-- <= 0) return false;
      else response.writeHead(500).end("broken");
      return true;
    };
    expect((await pay(`${server.url}/old`)).status).to.equal(500);
    const response = await pay(`${server.url}/old`);
    expect([response.status, await response.text()]).to.deep.equal([200, "sold /new "]);
    expect(await payments()).to.equal(before + 1);
  });

  it("is retried if a proxy did not forward the proof", async () => {
    const before = await payments();
    for (const status of [408, 421, 425, 431]) {
      server.options.misbehave = (_, response, proof) => {
        if (proof === undefined) return false;
        response.writeHead(status).end("not yet");
        return true;
      };
      const url = `${server.url}/before/${status}`;
      expect((await pay(url)).status).to.equal(status);
      delete server.options.misbehave;
      expect(await (await pay(url)).text(), String(status)).to.equal(`sold /before/${status} `);
    }
    expect(await payments()).to.equal(before + 4);
  });

  it("resends its body, of every type", async () => {
    const stream = () =>
      new ReadableStream({
        start(controller) {
          for (const part of ["str", "eam"]) controller.enqueue(new TextEncoder().encode(part));
          controller.close();
        },
      });
    const url = `${server.url}/post`;
    const bodies: [string, RequestInfo | URL, RequestInit][] = [
      ["text", url, { method: "POST", body: "text" }],
      ["stream", new URL(url), { method: "PUT", body: stream(), duplex: "half" } as RequestInit],
    ];
    for (const [expected, input, init] of bodies) {
      expect(await (await pay(input, init)).text()).to.equal(`sold /post ${expected}`);
      expect(server.sales.at(-1)).to.include({ method: init.method, body: expected });
    }
    const small = wrapFetch(fetch, wallet, { services: [world.serviceUrl], maxPerRequest: PRICE, bodyLimit: 5 });
    const before = server.challenges;
    for (const body of ["longer", stream()])
      expect((await rejection(small(url, { method: "POST", body, duplex: "half" } as RequestInit))).code).to.equal(
        "BODY_TOO_LARGE",
      );
    const taken = stream();
    taken.getReader();
    expect((await rejection(pay(url, { method: "POST", body: taken }))).code).to.equal("BODY_NOT_REPLAYABLE");
    expect(server.challenges).to.equal(before);
  });

  it("returns the response to the caller if the caller provided the proof", async () => {
    server.options.misbehave = (_, response) => {
      response.writeHead(402, { "www-authenticate": "x402-zk" }).end("no");
      return true;
    };
    const response = await pay(`${server.url}/own`, { headers: { "X-Payment-Proof": "{}" } });
    expect([response.status, await response.text()]).to.deep.equal([402, "no"]);
  });
});
