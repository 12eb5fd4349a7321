// MPP beside x402 and prepaid tokens on one route, the sizes of all headers, and a paywall without MPP.

import { createServer, type Server } from "node:http";
import { connect } from "node:net";
import { MAX_CREDENTIAL_LENGTH, parseChallenges, parseCharge } from "@sotto/mpp";
import { mpp } from "@sotto/mpp/server";
import { encodePrepaidHeader } from "@sotto/prepaid";
import { prepaid } from "@sotto/prepaid/server";
import type { PaymentMethod, Paywall } from "@sotto/resource-server";
import { sotto } from "@sotto/resource-server/express";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { slow } from "@sotto/test-kit/slow";
import { openPaywall } from "@sotto/test-world/paywall/options";
import { headerOf, showing } from "@sotto/test-world/paywall/payments";
import { bytesOf, createPack, createPrepaid, payFor, purchase } from "@sotto/test-world/paywall/prepaid";
import { type MerchantWorld, ORIGIN, openMerchantWorld, pay } from "@sotto/test-world/paywall/world";
import { bothFormats, SottoScheme, x402Method } from "@sotto/x402/server";
import { HTTPFacilitatorClient } from "@x402/core/server";
import { paymentMiddlewareFromHTTPServer, x402HTTPResourceServer, x402ResourceServer } from "@x402/express";
import { expect } from "chai";
import express, { type RequestHandler } from "express";
import { Mppx } from "mppx/client";
import { ADAPTERS, type Sale } from "../resource-server/support/servers.ts";
import { challengeOf, credential, paid, SECRET } from "./support/mpp-server.ts";

/** nginx reads the headers of a response into a buffer of 4 or 8 KiB, and answers 502 if they are larger. */
const MAX_RESPONSE_HEADERS = 4_096;
const MAX_REQUEST_HEADER = 8_192;
const WALLET_ORIGIN = "https://wallet.example";

/** The headers of the response to a request of a page, as they are on the wire. */
function headOf(url: string, target: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let received = "";
    const socket = connect(Number(port), hostname, () => {
      socket.write(`GET ${target} HTTP/1.1\r\nHost: ${hostname}\r\nOrigin: ${WALLET_ORIGIN}\r\n\r\n`);
    });
    socket.on("error", reject).on("data", (chunk) => {
      received += chunk.toString("latin1");
      const end = received.indexOf("\r\n\r\n");
      if (end < 0) return;
      socket.destroy();
      resolve(received.slice(0, end + 4));
    });
  });
}

const headerIn = (head: string, name: string): string | undefined =>
  new RegExp(`^${name}: (.*)\\r$`, "im").exec(head)?.[1];

describe("MPP beside other formats", function () {
  slow(this, "a chain, a service and proofs");
  let world: MerchantWorld;
  let http: x402HTTPResourceServer;
  let prepaidTokens: PaymentMethod;
  let wire: unknown;

  before(async () => {
    world = await openMerchantWorld();
    const options = await createPrepaid(world);
    wire = { schedules: options.schedules };
    prepaidTokens = prepaid(options);
    const { chainId, pool, token: asset, service, merchant } = world;
    const recipient = { addresses: merchant.addresses };
    const scheme = new SottoScheme({ origin: ORIGIN, recipient, chainId, pool, asset, decimals: 6, service });
    const resources = new x402ResourceServer(new HTTPFacilitatorClient({ url: service }));
    resources.register(scheme.network, scheme);
    const accepts = { scheme: scheme.scheme, network: scheme.network, payTo: merchant.wallet, price: "$0.01" };
    http = new x402HTTPResourceServer(resources, { "GET /paid/:what": { accepts } });
    await http.initialize();
  });

  /** A paywall with all formats. @param changes of the paywall's options */
  const openAll = (changes: Parameters<typeof openPaywall>[1] = {}): Promise<Paywall> =>
    openPaywall(world, { methods: [x402Method(() => http), mpp({ secret: SECRET }), prepaidTokens], ...changes });

  for (const [name, start] of ADAPTERS)
    it(`keeps the headers of a 402 below ${MAX_RESPONSE_HEADERS} bytes on ${name}, with every format that fits`, async () => {
      const exposed = ["X-".padEnd(320 - WALLET_ORIGIN.length, "a")];
      const cors = { origins: [WALLET_ORIGIN], exposedHeaders: exposed };
      const paywall = await openAll({ cors });
      const server = await start(paywall, () => ({ status: 200, text: "sold" }));
      try {
        for (const length of [0, 100, 300, 600, 1_000, 1_900]) {
          const target = `/paid/a?q=${"a".repeat(length)}`;
          const head = await headOf(server.url, target);
          expect(head, head).to.match(/^HTTP\/1\.1 402 /);
          expect(head.length, target).to.be.at.most(MAX_RESPONSE_HEADERS);
          const schemes = headerIn(head, "www-authenticate") ?? "";
          expect(schemes).to.match(/^x402-zk, Payment /);
          const [challenge] = parseChallenges(schemes);
          // A client that sent the request knows the URL.
          const expected = length <= 300 ? ORIGIN + target : undefined;
          expect(parseCharge(challenge!.request).resource, target).to.equal(expected);
          if (length <= 100) expect(headerIn(head, "payment-required"), target).to.be.a("string");
        }
      } finally {
        await server.close();
        await paywall.close();
      }
    });

  it(`keeps a credential below ${MAX_REQUEST_HEADER} bytes, for each URL that a private payment can have`, async () => {
    const paywall = await openAll();
    const server = closedAfterTest(await ADAPTERS.get("Hono")!(paywall, () => ({ status: 200, text: "sold" })));
    for (const length of [0, 300, 600, 1_900]) {
      const target = `/paid/a?q=${"a".repeat(length)}`;
      const challenge = challengeOf(await fetch(server.url + target));
      const headers = credential(challenge, await paid(world, target));
      const { authorization = "" } = headers;
      expect(authorization.length, String(length)).to.be.at.most(MAX_CREDENTIAL_LENGTH);
      expect(`authorization: ${authorization}\r\n`.length).to.be.below(MAX_REQUEST_HEADER);
      expect((await fetch(server.url + target, { headers })).status, target).to.equal(200);
    }
    await paywall.close();
  });

  describe("on one route", () => {
    let paywall: Paywall;
    let server: Server;
    let url: string;
    const kinds: (string | undefined)[] = [];
    before(async () => {
      const app = express();
      server = await new Promise((resolve) => {
        const listening = createServer(app).listen(0, "127.0.0.1", () => resolve(listening));
      });
      url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
      paywall = await openAll();
      const theirs = paymentMiddlewareFromHTTPServer(http);
      // The middleware asks its facilitator again, and forgets what it knew until then.
      await http.initialize();
      app.use(bothFormats(http, theirs, sotto(paywall) as unknown as RequestHandler));
      app.get("/paid/:what", (request, response) => {
        kinds.push(request.payment?.kind);
        response.send("sold");
      });
    });
    after(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await paywall.close();
    });

    it("each format is offered and accepted, and mppx answers its own", async () => {
      const asked = await fetch(`${url}/paid/a`);
      expect(asked.headers.get("payment-required")).to.be.a("string");
      expect(Object.keys(((await asked.json()) as { payment: object }).payment)).to.include("prepaid");
      kinds.length = 0;

      // The published client, with a payment that was made before.
      const { Method, Credential, z } = await import("mppx");
      const json = z.record(z.string(), z.unknown());
      const schema = { credential: { payload: json }, request: json };
      const payload = await paid(world);
      const method = Method.toClient(Method.from({ name: "sotto", intent: "charge", schema }), {
        createCredential: async ({ challenge }) => Credential.serialize({ challenge, payload }),
      });
      const client = Mppx.create({ methods: [method], polyfill: false });
      const response = await client.fetch(`${url}/paid/a`);
      expect([response.status, await response.text()]).to.deep.equal([200, "sold"]);
      expect(response.headers.get("payment-receipt")).to.be.a("string");

      expect((await fetch(`${url}/paid/a`, { headers: showing(headerOf(await pay(world))) })).status).to.equal(200);

      const pack = createPack(wire);
      const bought = await purchase(url, pack, await payFor(world, pack));
      const [token] = pack.finish(await bytesOf(bought));
      const shown = { "x-payment-token": encodePrepaidHeader(token!) };
      expect((await fetch(`${url}/paid/a`, { headers: shown })).status).to.equal(200);
      expect(kinds).to.deep.equal(["payment", "payment", "prepaid"]);
    });

    it("a pack of tokens is asked for without a challenge of MPP, which cannot pay for it", async () => {
      const pack = createPack(wire);
      const asked = await purchase(url, pack);
      expect([asked.status, asked.headers.get("www-authenticate")]).to.deep.equal([402, "x402-zk"]);
    });
  });

  it("changes nothing at a paywall without MPP", async () => {
    const paywall = await openPaywall(world);
    const sales: Sale[] = [];
    const server = closedAfterTest(
      await ADAPTERS.get("Express 5")!(paywall, (sale) => {
        sales.push(sale);
        return { status: 200, text: "sold" };
      }),
    );
    const authorization = "Payment e30, Bearer a";
    for (const headers of [{}, { authorization, "accept-payment": "sotto/charge" }]) {
      const asked = await fetch(`${server.url}/paid/a`, { headers });
      const { date: _, etag: __, "content-length": ___, ...rest } = Object.fromEntries(asked.headers);
      expect([asked.status, rest]).to.deep.equal([
        402,
        {
          "access-control-expose-headers": "WWW-Authenticate, Retry-After",
          "cache-control": "no-store",
          connection: "keep-alive",
          "content-type": "application/json; charset=utf-8",
          "keep-alive": "timeout=5",
          vary: "X-Payment-Proof",
          "www-authenticate": "x402-zk",
          "x-powered-by": "Express",
        },
      ]);
      const body = (await asked.json()) as object;
      expect(body).to.have.all.keys("status", "message", "protocol", "privacy", "payment", "metadata");
    }
    const headers = { ...showing(headerOf(await pay(world))), authorization };
    const sold = await fetch(`${server.url}/paid/a`, { headers });
    expect([sold.status, sold.headers.get("cache-control"), sold.headers.get("payment-receipt")]).to.deep.equal([
      ...[200, "no-store", null],
    ]);
    expect(sales[0]?.header("authorization")).to.equal(authorization);
    const again = await fetch(`${server.url}/paid/a`, { headers });
    expect([again.status, again.headers.get("www-authenticate")]).to.deep.equal([402, null]);
    expect(await again.json()).to.deep.equal({
      error: "Invalid payment proof",
      message: "ZK proof verification failed",
    });
    await paywall.close();
  });
});
