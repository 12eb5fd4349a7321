// The published mppx pays a paywall of sotto through a real service on a real chain.

import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { serve } from "@hono/node-server";
import { encodeChallenge, parseChallenges, parseReceipt } from "@sotto/mpp";
import { mpp } from "@sotto/mpp/server";
import { createPaywall, type Paywall } from "@sotto/resource-server";
import { sotto as onExpress } from "@sotto/resource-server/express";
import { sotto as onHono } from "@sotto/resource-server/hono";
import { anyRejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { type Merchant, openMerchant } from "@sotto/test-world/merchant";
import { openWorld, payerWith, until, type World } from "@sotto/test-world/wallets";
import type { Wallet } from "@sotto/wallet";
import { expect } from "chai";
import express from "express";
import { Hono } from "hono";
import { Receipt } from "mppx";
import { Mppx } from "mppx/client";
import { SECRET } from "./support/mpp-server.ts";
import { sottoCharge } from "./support/mppx-sotto.ts";

const PRICE = 10_000n;

/** Starts a server on a port that the paywall has to know before. */
const SERVERS: Readonly<Record<string, (paywall: Paywall, port: number) => Server>> = {
  Express: (paywall, port) => {
    const app = express();
    app.use(onExpress(paywall), express.json());
    app.all(
      "/report",
      (request, response) =>
        void response.json({
          paid: request.payment?.kind,
          body: request.body,
          authorization: request.get("authorization"),
        }),
    );
    return app.listen(port, "127.0.0.1");
  },
  Hono: (paywall, port) => {
    const app = new Hono();
    app.use("*", onHono(paywall));
    app.all("/report", async (c) => {
      const text = await c.req.text();
      const authorization = c.req.header("authorization");
      const body = text === "" ? undefined : (JSON.parse(text) as unknown);
      return c.json({ paid: c.get("payment")?.kind, body, authorization } as object);
    });
    return serve({ fetch: app.fetch, port, hostname: "127.0.0.1" }) as Server;
  },
  "plain Node": (paywall, port) => {
    const charge = onExpress(paywall);
    const server = createServer((request, response) => {
      charge(request, response, async () => {
        const parts: Buffer[] = [];
        for await (const part of request) parts.push(part as Buffer);
        const text = Buffer.concat(parts).toString();
        const body: unknown = text === "" ? undefined : JSON.parse(text);
        const { payment } = request as { payment?: { kind: string } };
        response.setHeader("content-type", "application/json");
        const { authorization } = request.headers;
        response.end(JSON.stringify({ paid: payment?.kind, body, authorization }));
      });
    });
    return server.listen(port, "127.0.0.1");
  },
};

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

it("docs/mpp.md shows the method that these tests pay with", () => {
  const read = (...path: string[]) => readFileSync(join(import.meta.dirname, ...path), "utf8");
  expect(read("..", "..", "docs", "mpp.md")).to.include(read("support", "mppx-sotto.ts").trim());
});

describe("the published mppx", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let wallet: Wallet;
  let merchant: Merchant;
  before(async () => {
    world = await openWorld();
    merchant = await openMerchant(world);
    wallet = await payerWith(
      world,
      Array.from({ length: 12 }, () => PRICE),
    );
  });

  const clientOf = (limit = PRICE, send = fetch) => {
    const call = (question: { to?: string; data: string }) => world.provider.call(question);
    const methods = [sottoCharge(wallet, world.service, call, limit)];
    // A second payment for the same request is never what the caller wants.
    return Mppx.create({ methods, polyfill: false, maxPaymentRetries: 1, fetch: send });
  };

  for (const [name, start] of Object.entries(SERVERS))
    describe(`at ${name}`, () => {
      let paywall: Paywall;
      let server: Server;
      let origin: string;
      before(async () => {
        const port = await freePort();
        origin = `http://127.0.0.1:${port}`;
        const methods = [mpp({ secret: SECRET })];
        paywall = await createPaywall({ origin, price: PRICE, ...merchant.paywall, methods });
        server = start(paywall, port);
        await until(async () => server.listening);
      });
      after(async () => {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
        await paywall.close();
      });

      it("pays and settles exactly the price, and gets a receipt", async () => {
        const before = await merchant.received();
        const response = await clientOf().fetch(`${origin}/report`);
        expect([response.status, await response.json()]).to.deep.equal([200, { paid: "payment" }]);
        const { reference, method, status } = Receipt.fromResponse(response);
        expect([method, status]).to.deep.equal(["sotto", "success"]);
        expect(parseReceipt(response.headers.get("payment-receipt")!).reference).to.equal(reference);
        expect(await world.provider.getTransactionReceipt(reference)).to.include({ status: 1 });
        expect(response.headers.get("cache-control")).to.match(/\bprivate\b/);
        await until(async () => (await merchant.received()) > before);
        expect((await merchant.received()) - before).to.equal(PRICE);
      });

      it("pays for a POST, whose body the handler gets", async () => {
        const body = JSON.stringify({ question: "why" });
        const headers = { "content-type": "application/json" };
        const response = await clientOf().fetch(`${origin}/report`, { method: "POST", body, headers });
        expect(await response.json()).to.deep.equal({ paid: "payment", body: { question: "why" } });
      });

      it("pays beside a credential of the application, in a header of its own", async () => {
        const port = await freePort();
        const url = `http://127.0.0.1:${port}`;
        const methods = [mpp({ secret: SECRET, header: "Payment-Authorization" })];
        const other = await createPaywall({ origin: url, price: PRICE, ...merchant.paywall, methods });
        const listening = start(other, port);
        await until(async () => listening.listening);
        try {
          const response = await clientOf().fetch(`${url}/report`, { headers: { authorization: "Bearer mine" } });
          expect(await response.json()).to.deep.equal({ paid: "payment", authorization: "Bearer mine" });
        } finally {
          listening.closeAllConnections();
          await new Promise((resolve) => listening.close(resolve));
          await other.close();
        }
      });

      it("fails cleanly without the method, or above its limit, and pays nothing", async () => {
        await wallet.scan();
        const before = wallet.balance().total;
        for (const client of [Mppx.create({ methods: [], polyfill: false }), clientOf(PRICE - 1n)]) {
          const failure = await client.fetch(`${origin}/report`).then(
            () => "served",
            ({ message }: Error) => message,
          );
          expect(failure).to.match(/^No method found for challenges: sotto\.charge|^this challenge is not paid/);
        }
        await wallet.scan();
        expect(wallet.balance().total).to.equal(before);
      });

      it("pays no challenge for another token or through another service", async () => {
        await wallet.scan();
        const before = wallet.balance().total;
        for (const [own, other] of [
          [world.token.toLowerCase(), `0x${"1".repeat(40)}`],
          [world.serviceUrl, "http://127.0.0.1:9/zk"],
        ] as const) {
          const swapped: typeof fetch = async (input, init) => {
            const { status, headers } = await fetch(input, init);
            const [challenge] = parseChallenges(headers.get("www-authenticate") ?? "");
            const request = Buffer.from(challenge!.request, "base64url").toString();
            expect(request).to.include(own);
            const altered = { ...challenge!, request: Buffer.from(request.replace(own, other)).toString("base64url") };
            return new Response(null, { status, headers: { "www-authenticate": encodeChallenge(altered) } });
          };
          const failure = await anyRejection(clientOf(PRICE, swapped).fetch(`${origin}/report`));
          expect((failure as Error).message).to.match(/^this challenge is for another/);
        }
        await wallet.scan();
        expect(wallet.balance().total).to.equal(before);
      });
    });
});
