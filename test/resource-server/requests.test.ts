// Requests that lie about the server's name, about their path, or about the number of their proofs.

import type { Paywall } from "@sotto/resource-server";
import { describeMatrix } from "@sotto/test-kit/matrix";
import { slow } from "@sotto/test-kit/slow";
import { openPaywall } from "@sotto/test-world/paywall/options";
import { headerOf } from "@sotto/test-world/paywall/payments";
import { type MerchantWorld, ORIGIN, openMerchantWorld, pay, type Settled } from "@sotto/test-world/paywall/world";
import { expect } from "chai";
import { INVALID } from "./support/counter.ts";
import { rawRequest } from "./support/http.ts";
import { ADAPTERS, LENIENT, type ResourceServer } from "./support/servers.ts";

/** Targets that one server routes to `/paid/a` and another to something free or cheap. */
const TRICKS = [
  "/health/../paid/a",
  "/health/./../paid/a",
  "/health/../../paid/a",
  "/health/%2e%2e/paid/a",
  "/health/%2E%2E/paid/a",
  "/health/.%2e/paid/a",
  "/health/..%2fpaid/a",
  "/health/..%2Fpaid%2Fa",
  "/health%2f..%2fpaid/a",
  "/health/%252e%252e/paid/a",
  "/health/..;/paid/a",
  "/health;/../paid/a",
  "/health\\..\\paid\\a",
  "/cheap/../paid/a",
  "/cheap/%2e%2e/paid/a",
  "//paid/a",
  "/paid//a",
  "/./paid/a",
  "/.//paid/a",
  "/%2fpaid/a",
  "\\paid\\a",
  "/PAID/a",
  "/Paid/a",
  "/paid/a/",
  "/paid/a;/health",
  "/paid/a;x=/../health",
  "/paid/a?/health",
  "/paid/a?x=/../health",
  "/paid/a#/health",
  "/paid/a%00",
  "/paid/a%3F",
  "/paid/a%3f/health",
  "/paid/a%23",
  "/paid/a%",
  "/paid/%zz",
  "/paid/%c0%af",
  "/paid/%61",
  "/%70aid/a",
  "/pa%69d/a",
  "/health?/../paid/a",
  "http://data.example/paid/a",
  "https://data.example/health/../paid/a",
  "http://evil.example/paid/a",
  "//evil.example/paid/a",
  "paid/a",
  "*",
];

describe("a forged request", function () {
  slow(this, "a chain, a service and proofs");
  let world: MerchantWorld;
  before(async () => {
    world = await openMerchantWorld();
  });

  describeMatrix("on", new Map([...ADAPTERS, ...LENIENT]), (start, attack, name) => {
    let paywall: Paywall;
    let server: ResourceServer;
    let sold = 0;
    let payment: Settled;
    before(async () => {
      paywall = await openPaywall(world, {
        // The expensive route, next to cheap routes and broad free ones.
        routes: [{ path: "/paid/*", price: "1" }],
        price: "0.01",
        free: ["/health", "/health/*"],
      });
      server = await start(paywall, () => {
        sold += 1;
        return { status: 200, text: "the goods" };
      });
      payment = await pay(world, { target: "/paid/a", price: 1_000_000n });
    });
    after(async () => {
      await server?.close();
      await paywall?.close();
    });
    beforeEach(() => {
      sold = 0;
    });
    const get = (target: string, ...headers: string[]) =>
      rawRequest(server.url, [`GET ${target} HTTP/1.1`, ...headers]);

    attack("with another path is neither served nor offered at another price", async () => {
      for (const target of TRICKS) {
        const { status, body } = await get(target);
        expect(body, target).to.not.include("the goods");
        expect(status, target).to.be.within(200, 499);
        if (status !== 402) continue;
        const { payment: asked } = JSON.parse(body) as { payment?: { amountBaseUnits: string } };
        // A target may be cheap only if no framework routes it to the expensive route.
        if (asked !== undefined && /paid|%70|%69/i.test(target))
          expect([target, asked.amountBaseUnits]).to.deep.equal([target, "1000000"]);
      }
      expect(sold).to.equal(0);
    });

    attack("with a payment for another path is rejected", async () => {
      const other = await pay(world, { target: "/paid/b", price: 1_000_000n });
      for (const target of TRICKS) {
        const { status, body } = await get(target, `X-Payment-Proof: ${headerOf(other)}`);
        expect(body, target).to.not.include("the goods");
        expect(status, target).to.be.below(500);
      }
      expect(sold).to.equal(0);
    });

    attack("with another host is priced for the configured one, and payments to other hosts are rejected", async () => {
      const evil = await pay(world, { resource: "https://evil.example/paid/a", price: 1_000_000n });
      const lies = [
        ["Host: evil.example"],
        ["Host: evil.example", "X-Forwarded-Host: evil.example", "X-Forwarded-Proto: https"],
        ["Forwarded: host=evil.example;proto=https", "X-Original-URL: /health", "X-Rewrite-URL: /health"],
        ["X-Forwarded-Prefix: /health", "X-Original-Host: evil.example", "X-HTTP-Method-Override: OPTIONS"],
      ];
      for (const headers of lies) {
        const asked = await get("/paid/a", ...headers);
        expect(asked.status).to.equal(402);
        const { metadata } = JSON.parse(asked.body) as { metadata: { resource: string } };
        expect(metadata.resource).to.equal(`${ORIGIN}/paid/a`);
        const refused = await get("/paid/a", ...headers, `X-Payment-Proof: ${headerOf(evil)}`);
        expect([refused.status, JSON.parse(refused.body)]).to.deep.equal([402, INVALID]);
      }
      const absolute = await get("https://evil.example/paid/a", `X-Payment-Proof: ${headerOf(evil)}`);
      expect(absolute.status).to.be.within(400, 499);
      expect(sold).to.equal(0);
    });

    attack("with a repeated proof header is answered 400", async () => {
      const right = headerOf(payment);
      const pairs = [
        [right, right],
        [right, ""],
        ["", right],
        [right, "{}"],
        ["null", right],
      ];
      for (const [first, second] of pairs)
        for (const other of ["X-Payment-Proof", "x-payment-proof", "X-PAYMENT-PROOF"]) {
          const { status, body } = await get("/paid/a", `X-Payment-Proof: ${first}`, `${other}: ${second}`);
          expect([status, JSON.parse(body).error]).to.deep.equal([400, "Invalid payment proof format"]);
        }
      expect(sold).to.equal(0);
    });

    attack("with a split proof header is not joined", async () => {
      const right = headerOf(payment);
      const at = right.indexOf(",", right.length / 2);
      const halves = [right.slice(0, at), right.slice(at + 1)].map((half) => `X-Payment-Proof: ${half}`);
      const { status } = await get("/paid/a", ...halves);
      // A fetch Request joins repeated headers into one, as HTTP permits.
      expect([status, sold]).to.deep.equal(name === "fetch" ? [200, 1] : [400, 0]);
    });

    it("is served if unmodified", async () => {
      const unused = name === "fetch" ? await pay(world, { target: "/paid/a", price: 1_000_000n }) : payment;
      const { status, body } = await get("/paid/a", `X-Payment-Proof: ${headerOf(unused)}`);
      expect([status, body, sold]).to.deep.equal([200, "the goods", 1]);
    });
  });
});
