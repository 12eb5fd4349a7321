// The size of a 402's headers, in bytes as a proxy receives them. nginx reads them into a buffer of 4 or 8 KiB, and answers
// 502 if they are larger.

import { connect } from "node:net";
import { createPaywall, type Paywall } from "@sotto/resource-server";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { slow } from "@sotto/test-kit/slow";
import { createMonthMerchant } from "@sotto/test-world/paywall/months";
import { openWorld, type World } from "@sotto/test-world/wallets";
import { bothFormats, createX402Listing, type SottoMonthRecipient, SottoScheme, x402Method } from "@sotto/x402/server";
import { HTTPFacilitatorClient } from "@x402/core/server";
import { x402HTTPResourceServer, x402ResourceServer } from "@x402/express";
import { expect } from "chai";
import { ADAPTERS } from "../resource-server/support/servers.ts";
import { decode } from "./support/resource-server.ts";

const LIMIT = 4096;
const ORIGIN = "https://data.merchant.example";
const WALLET_ORIGIN = "https://wallet.example";
const LISTING = {
  method: "GET",
  description: "ten bytes.",
  input: { example: { q: "text" } },
  output: { example: { found: 1 } },
} as const;

describe("the headers of a 402 in both formats", function () {
  slow(this, "a chain and a service");
  let world: World;
  let recipient: SottoMonthRecipient;
  let http: x402HTTPResourceServer;
  let paywall: Paywall;

  before(async () => {
    world = await openWorld();
    // Its terms are longer than those of a lasting address.
    const { addresses, wallet } = await createMonthMerchant(world);
    recipient = { addresses };
    const { chainId, pool, token: asset, serviceUrl: service } = world;
    paywall = await createPaywall({
      origin: ORIGIN,
      recipient,
      service,
      price: "1.00",
      chain: { rpcUrls: [world.node.url], chainId, pool },
      cors: { origins: [WALLET_ORIGIN], exposedHeaders: ["X-".padEnd(320 - WALLET_ORIGIN.length, "a")] },
      page: { wallet: WALLET_ORIGIN, name: "Harbour Data" },
      methods: [x402Method(() => http)],
    });
    const scheme = new SottoScheme({
      origin: ORIGIN,
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
    const accepts = { scheme: scheme.scheme, network: scheme.network, payTo: wallet, price: "$1.00" };
    http = new x402HTTPResourceServer(resources, {
      "GET /paid/report": { accepts },
      "GET /paid/tiny": { accepts, ...createX402Listing({ method: "GET", description: "ten bytes." }) },
      "GET /paid/short": { accepts, ...createX402Listing(LISTING) },
      "GET /paid/listed": { accepts, ...createX402Listing({ ...LISTING, description: "d".repeat(350) }) },
    });
    await http.initialize();
  });
  after(async () => {
    await paywall.close();
  });

  for (const [name, start] of ADAPTERS)
    describe(`with ${name}`, () => {
      let server: { readonly url: string; close(): Promise<void> };
      before(async () => {
        server = await start(paywall, () => ({ status: 200, text: "sold" }));
      });
      after(() => server.close());

      it(`take at most ${LIMIT} bytes, and offer x402 with a query of 1,000 characters`, async () => {
        for (const path of ["/paid/report", "/paid/listed"])
          for (const length of [0, 100, 500, 1000]) {
            const target = `${path}?q=${"a".repeat(length)}`;
            const { bytes, required = {} } = await challengeOf(server.url, target);
            expect(bytes, target).to.be.at.most(LIMIT);
            expect(required).to.have.nested.property("accepts[0].extra.resource", ORIGIN + target);
          }
      });

      it("leave x402 out if the URL is too long for it, and still offer sotto's own format", async () => {
        for (const length of [1400, 1900]) {
          const { bytes, required, body } = await challengeOf(server.url, `/paid/report?q=${"a".repeat(length)}`);
          expect(bytes).to.be.at.most(LIMIT);
          expect(required).to.equal(undefined);
          expect(body).to.include("payment-instructions");
        }
      });
    });

  it("keep a listing if it fits, and drop first what clients can do without", async () => {
    const server = closedAfterTest(await ADAPTERS.get("Hono")!(paywall, () => ({ status: 200, text: "sold" })));
    const fieldsOf = async (target: string) => {
      const { required = {} } = await challengeOf(server.url, target);
      const { url, description = "" } = Object(required["resource"]) as { url?: string; description?: string };
      return { url, described: description.length, extensions: Object.keys(Object(required["extensions"])) };
    };
    expect(await fieldsOf("/paid/tiny")).to.deep.equal({
      ...{ url: `${ORIGIN}/paid/tiny`, described: 10, extensions: ["bazaar", "privacy"] },
    });
    expect(await fieldsOf("/paid/short?q=1")).to.deep.equal({
      ...{ url: `${ORIGIN}/paid/short?q=1`, described: 10, extensions: ["bazaar"] },
    });
    expect(await fieldsOf("/paid/listed?q=1")).to.deep.equal({
      ...{ url: `${ORIGIN}/paid/listed?q=1`, described: 350, extensions: ["bazaar"] },
    });
    const long = `/paid/short?q=${"a".repeat(400)}`;
    expect(await fieldsOf(long)).to.deep.equal({
      url: `${ORIGIN}/paid/short`,
      described: 10,
      extensions: ["bazaar"],
    });
    const longer = `/paid/short?q=${"a".repeat(1000)}`;
    expect(await fieldsOf(longer)).to.deep.equal({ url: `${ORIGIN}/paid/short`, described: 0, extensions: [] });
  });

  it("are checked when routes are configured", () => {
    const pass = () => undefined;
    const routes = (size: number) => {
      const example = { text: "a".repeat(size) };
      return { "GET /paid/listed": { accepts: [], ...createX402Listing({ ...LISTING, output: { example } }) } };
    };
    const configured = (size: number) =>
      bothFormats({ requiresPayment: () => true, routes: routes(size) }, pass, pass as never);
    expect(configured(100)).to.be.a("function");
    expect(() => configured(1000))
      .to.throw("GET /paid/listed")
      .with.property("code", "X402_OPTION_INVALID");
    // What the scheme of a route asks to be shown takes from the room.
    const server = { getRegisteredScheme: () => ({ asked: { memo: "a".repeat(700) } }) };
    const accepts = { scheme: "sotto", network: "eip155:1" };
    const asking = { "GET /paid/listed": { ...routes(100)["GET /paid/listed"], accepts } };
    const http = { requiresPayment: () => true, routes: asking };
    expect(bothFormats(http, pass, pass as never)).to.be.a("function");
    expect(() => bothFormats({ ...http, server }, pass, pass as never))
      .to.throw("GET /paid/listed")
      .with.property("code", "X402_OPTION_INVALID");
  });

  it("lose another format's challenge, not sotto's own, if a hook returns too much", async () => {
    const events: string[] = [];
    const { chainId, pool, serviceUrl: service } = world;
    let value = "a".repeat(3000);
    const own = await createPaywall({
      ...{ origin: ORIGIN, recipient, service, price: "1.00", chain: { rpcUrls: [world.node.url], chainId, pool } },
      methods: [{ name: "other", open: () => ({ offer: () => ({ headers: { "payment-required": value } }) }) }],
      onEvent: ({ event, reason = "" }) => void (event === "trouble" && events.push(reason)),
    });
    const server = await ADAPTERS.get("Fastify")!(own, () => ({ status: 200, text: "sold" }));
    try {
      expect((await fetch(`${server.url}/paid/a`)).headers.get("payment-required")).to.equal(value);
      expect(events).to.deep.equal([]);
      value = "a".repeat(3120);
      const response = await fetch(`${server.url}/paid/a`);
      expect(response.headers.get("payment-required")).to.equal(null);
      expect(response.headers.get("www-authenticate")).to.equal("x402-zk");
      expect(events).to.deep.equal(["OFFER_FAILED"]);
    } finally {
      await server.close();
      await own.close();
    }
  });
});

interface Asked {
  /** Size of the response's head, with the empty line that ends it. */
  readonly bytes: number;
  /** The decoded header PAYMENT-REQUIRED; undefined if there is none. */
  readonly required: Record<string, unknown> | undefined;
  /** The beginning of the body. */
  readonly body: string;
}

/** Asks as a browser's navigation from another origin, whose 402 has the most headers. */
async function challengeOf(url: string, target: string): Promise<Asked> {
  const answer = await answerOf(url, target);
  const end = answer.indexOf("\r\n\r\n") + 4;
  const head = answer.slice(0, end);
  expect(head).to.match(/^HTTP\/1\.1 402 /);
  const required = /^payment-required: (.*)\r$/im.exec(head)?.[1];
  return { bytes: end, required: required === undefined ? undefined : decode(required), body: answer.slice(end) };
}

/** The bytes of a response, at least as far as the page's instructions begin. */
function answerOf(url: string, target: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let received = "";
    const socket = connect(Number(port), hostname, () => {
      socket.write(
        `GET ${target} HTTP/1.1\r\nHost: ${hostname}\r\nOrigin: ${WALLET_ORIGIN}\r\nSec-Fetch-Dest: document\r\n\r\n`,
      );
    });
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
      if (!received.includes("payment-instructions")) return;
      socket.destroy();
      resolve(received);
    });
    socket.on("error", reject);
    socket.setTimeout(10_000, () => reject(new Error(`no response to ${target}`)));
  });
}
