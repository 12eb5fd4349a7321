// sotto's client pays a paywall of @sotto/resource-server in MPP's format, beside x402-zk.
import { createServer, type Server } from "node:http";
import { privatePayment, type WrapOptions, wrapFetch } from "@sotto/client";
import { mpp, type ReceivedReceipt } from "@sotto/mpp/client";
import { mpp as charging } from "@sotto/mpp/server";
import { createPaywall, type Paywall } from "@sotto/resource-server";
import { sotto } from "@sotto/resource-server/express";
import { slow } from "@sotto/test-kit/slow";
import { openWallet, openWorld, payerWith, type World } from "@sotto/test-world/wallets";
import type { Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import express from "express";
import { signRecipient } from "../x402/support/resource-server.ts";

const PRICE = 1_000_000n;

describe("sotto's client at a paywall with MPP", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let payer: Wallet;
  let paywall: Paywall;
  let server: Server;
  let origin: string;
  /** The headers of payments that the server got. */
  let shown: string[];

  before(async () => {
    world = await openWorld();
    payer = await payerWith(
      world,
      Array.from({ length: 5 }, () => PRICE),
    );
    const merchant = await openWallet(world);
    const recipient = await signRecipient(world, Account.createRandom(), merchant.shieldedAddress);
    const app = express();
    server = await new Promise((resolve) => {
      const listening = createServer(app).listen(0, "127.0.0.1", () => resolve(listening));
    });
    origin = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    const { chainId, pool, serviceUrl: service, node } = world;
    const chain = { rpcUrls: [node.url], chainId, pool };
    const methods = [charging({ secret: "a-secret-of-thirty-two-characters" })];
    paywall = await createPaywall({ origin, recipient, service, price: PRICE, chain, methods });
    app.use((request, _, next) => {
      for (const name of ["authorization", "x-payment-proof"])
        if (request.headers[name] !== undefined) shown.push(name);
      next();
    });
    app.use(sotto(paywall), express.json());
    app.all("/report", (request, response) => {
      response.json({ authorization: request.headers.authorization ?? null, body: request.body ?? null });
    });
  });
  after(async () => {
    server?.closeAllConnections();
    server?.close();
    await paywall?.close();
  });
  beforeEach(() => {
    shown = [];
  });

  const paying = (methods: WrapOptions["methods"]) =>
    wrapFetch(fetch, payer, { services: [world.serviceUrl], maxPerRequest: PRICE, methods });

  it("pays for a request with a body, bound by its digest, and gets a receipt", async () => {
    const receipts: ReceivedReceipt[] = [];
    const pay = paying([mpp({ acceptPayment: true, onReceipt: (one) => receipts.push(one) })]);
    const init = { method: "POST", body: '{"city":"lima"}', headers: { "content-type": "application/json" } };
    const response = await pay(`${origin}/report`, init);
    expect(await response.json()).to.deep.equal({ authorization: null, body: { city: "lima" } });
    expect([shown, receipts.map(({ problem }) => problem)]).to.deep.equal([["authorization"], [undefined]]);
    expect(receipts[0]?.receipt?.reference).to.equal(receipts[0]?.txSignature);
  });

  it("pays in the format that comes first in its list, and for HEAD too", async () => {
    expect((await paying([privatePayment, mpp()])(`${origin}/report`)).status).to.equal(200);
    expect(shown).to.deep.equal(["x-payment-proof"]);
    const head = await paying([mpp()])(`${origin}/report`, { method: "HEAD" });
    expect([head.status, shown]).to.deep.equal([200, ["x-payment-proof", "authorization"]]);
  });

  it("pays the x402-zk challenge of the same 402 if the program needs Authorization itself", async () => {
    const headers = { authorization: "Bearer secret" };
    const response = await paying([mpp()])(`${origin}/report`, { headers });
    expect(await response.json()).to.include({ authorization: "Bearer secret" });
    expect(shown).to.deep.equal(["authorization", "authorization", "x-payment-proof"]);
  });
});
