// One Express route that answers in both formats, with the published middleware and sotto's own paywall.

import { createServer, type Server } from "node:http";
import { wrapFetch } from "@sotto/client";
import { createPaywall, type Paywall } from "@sotto/resource-server";
import { sotto } from "@sotto/resource-server/express";
import { slow } from "@sotto/test-kit/slow";
import { openWallet, openWorld, payerWith, until, type World } from "@sotto/test-world/wallets";
import type { Wallet } from "@sotto/wallet";
import { SottoScheme as Payer } from "@sotto/x402/client";
import { bothFormats, SottoScheme, x402Method } from "@sotto/x402/server";
import { HTTPFacilitatorClient } from "@x402/core/server";
import { paymentMiddlewareFromHTTPServer, x402HTTPResourceServer, x402ResourceServer } from "@x402/express";
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import express, { type RequestHandler } from "express";
import { show } from "./support/payer.ts";
import { decode, signRecipient } from "./support/resource-server.ts";

const PRICE = 1_000_000n;

describe("a route with both formats", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let merchant: Wallet;
  let paywall: Paywall;
  let server: Server;
  let origin: string;
  let served = 0;
  /** The payments that the paywall refused, with the reasons. */
  const refused: string[] = [];

  before(async () => {
    world = await openWorld();
    merchant = await openWallet(world);
    const recipient = await signRecipient(world, Account.createRandom(), merchant.shieldedAddress);
    const app = express();
    server = await new Promise((resolve) => {
      const listening = createServer(app).listen(0, "127.0.0.1", () => resolve(listening));
    });
    origin = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    const { chainId, pool, token: asset, serviceUrl: service } = world;
    paywall = await createPaywall({
      origin,
      recipient,
      service,
      price: PRICE,
      chain: { rpcUrls: [world.node.url], chainId, pool },
      onEvent: ({ event, reason = "" }) => void (event === "refused" && refused.push(reason)),
      methods: [x402Method(() => http)],
    });
    const scheme = new SottoScheme({
      origin,
      recipient,
      chainId,
      pool,
      asset,
      decimals: 6,
      service,
      uses: paywall.uses,
    });
    const resources = new x402ResourceServer(new HTTPFacilitatorClient({ url: service }));
    resources.register(scheme.network, scheme);
    const accepts = { scheme: scheme.scheme, network: scheme.network, payTo: recipient.wallet, price: "$1.00" };
    const http = new x402HTTPResourceServer(resources, { "GET /report": { accepts } });
    const theirs = paymentMiddlewareFromHTTPServer(http);
    app.use(bothFormats(http, theirs, sotto(paywall) as unknown as RequestHandler));
    app.get(["/report", "/secret"], (_request, response) => {
      served += 1;
      response.json({ report: "paid" });
    });
    await http.initialize();
  });
  after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await paywall.close();
  });

  const received = async (): Promise<bigint> => {
    await merchant.scan();
    return merchant.balance().total;
  };
  /** Runs a purchase, and asserts that it costs the price and is served once. */
  const sold = async (act: () => Promise<Response>): Promise<Response> => {
    const [before, runs] = [await received(), served];
    const response = await act();
    expect([response.status, await response.clone().json()]).to.deep.equal([200, { report: "paid" }]);
    await until(async () => (await received()) > before);
    expect([(await received()) - before, served - runs]).to.deep.equal([PRICE, 1]);
    return response;
  };
  const stock = async (wallet: Wallet, send: typeof fetch = fetch) => {
    const payer = await Payer.open({ wallet, services: [world.serviceUrl] });
    return wrapFetchWithPayment(payer.track(send), new x402Client().register(payer.network, payer));
  };
  /** A fetch that records the values of a header, so that a test can send them again. */
  const recording = (name: string, seen: string[]): typeof fetch => {
    return async (input, init) => {
      const request = new Request(input, init);
      const value = request.headers.get(name);
      if (value !== null) seen.push(value);
      return fetch(request);
    };
  };

  it("asks for payment in both formats at once", async () => {
    const response = await fetch(`${origin}/report`);
    expect([response.status, response.headers.get("www-authenticate")]).to.deep.equal([402, "x402-zk"]);
    const body = (await response.json()) as { payment: { amountBaseUnits: string }; metadata: { resource: string } };
    const [accepted] = decode(response.headers.get("payment-required"))["accepts"] as {
      amount: string;
      extra: Record<string, unknown>;
    }[];
    expect(accepted!.amount).to.equal(body.payment.amountBaseUnits);
    expect(accepted!.extra["resource"]).to.equal(body.metadata.resource);
    expect(response.headers.get("vary")).to.match(/X-Payment-Proof.*PAYMENT-SIGNATURE/i);
    expect(response.headers.get("access-control-expose-headers")).to.match(/PAYMENT-REQUIRED/);
  });

  it("is paid by the published client for a query that is too long to be in the challenge twice", async () => {
    const wallet = await payerWith(world, [PRICE]);
    const url = `${origin}/report?q=${"a".repeat(1000)}`;
    const challenge = decode((await fetch(url)).headers.get("payment-required"));
    expect(challenge["resource"]).to.deep.equal({ url: `${origin}/report`, description: "", mimeType: "" });
    const shown: string[] = [];
    await sold(async () => (await stock(wallet, recording("payment-signature", shown)))(url));
    // The published middleware refuses other terms with a challenge of its own.
    const payment = decode(shown[0] ?? expect.fail("nothing was paid"));
    const cheaper = { ...payment, accepted: { ...Object(payment["accepted"]), amount: "1" } };
    const header = Buffer.from(JSON.stringify(cheaper)).toString("base64");
    const refused = await fetch(url, { headers: { "payment-signature": header } });
    expect(refused.status).to.equal(402);
    const refusal = refused.headers.get("payment-required") ?? expect.fail("no challenge");
    expect(refusal.length).to.be.at.most(3000);
    expect(decode(refusal)).to.have.nested.property("resource.url", `${origin}/report`);
    expect(decode(refusal)).to.have.nested.property("accepts[0].extra.resource", url);
  });

  it("is paid by the published client, and the payment is not accepted in the other format", async () => {
    const wallet = await payerWith(world, [PRICE]);
    const shown: { header: string; payload: object; paymentToken: string }[] = [];
    // The payer has the service's token for the same payment before it is settled.
    const cheating: typeof fetch = async (input, init) => {
      const request = new Request(input, init);
      const header = request.headers.get("payment-signature");
      if (header !== null) {
        const { payload } = decode(header) as { payload: object };
        shown.push({ header, payload, paymentToken: await tokenOf(payload) });
      }
      return fetch(request);
    };
    const response = await sold(async () => (await stock(wallet, cheating))(`${origin}/report`));
    const { transaction: txSignature } = decode(response.headers.get("payment-response"));
    const [{ header, payload, paymentToken }] = shown as [(typeof shown)[0]];
    const runs = served;
    const proof = JSON.stringify({ ...payload, txSignature, paymentToken });
    const again = await fetch(`${origin}/report`, { headers: { "x-payment-proof": proof } });
    expect([again.status, served]).to.deep.equal([402, runs]);
    expect(refused).to.deep.equal(["USED"]);
    expect((await show(`${origin}/report`, header)).answer["errorReason"]).to.equal("sotto_payment_used");
  });

  it("is paid by sotto's own client, and the payment is not accepted in the other format", async () => {
    const wallet = await payerWith(world, [PRICE]);
    const seen: string[] = [];
    const options = { services: [world.serviceUrl], maxPerRequest: PRICE };
    await sold(() => wrapFetch(recording("x-payment-proof", seen), wallet, options)(`${origin}/report`));
    const { paymentToken: _, txSignature: __, ...payload } = JSON.parse(seen[0]!);
    const required = decode((await fetch(`${origin}/report`)).headers.get("payment-required"));
    const [accepted] = required["accepts"] as object[];
    const runs = served;
    const header = btoa(JSON.stringify({ x402Version: 2, accepted, payload }));
    const answer = await show(`${origin}/report`, header);
    expect([answer.status, answer.answer["errorReason"], served]).to.deep.equal([402, "sotto_payment_used", runs]);
  });

  it("ignores the other format's header on a route with one format", async () => {
    const runs = served;
    for (const value of ["x", btoa("{}"), btoa(JSON.stringify({ x402Version: 2 }))]) {
      const response = await fetch(`${origin}/secret`, { headers: { "payment-signature": value } });
      expect([response.status, response.headers.get("www-authenticate")]).to.deep.equal([402, "x402-zk"]);
    }
    expect((await fetch(`${origin}/secret`)).headers.get("payment-required")).to.equal(null);
    expect(served).to.equal(runs);
  });

  async function tokenOf(bundle: object): Promise<string> {
    const post = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(bundle) };
    const verified = (await (await fetch(`${world.serviceUrl}/verify`, post)).json()) as { paymentToken: string };
    expect(verified.paymentToken).to.match(/^\S+\.\S+\.\S+$/);
    return verified.paymentToken;
  }
});
