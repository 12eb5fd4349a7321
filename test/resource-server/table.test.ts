// The table of responses that every resource server follows, row by row, on each adapter, over real HTTP.

import { AddressBook, parseInstructions, paymentSignals, SCHEDULE_PATH, scheduleDigest } from "@sotto/protocol";
import type { Paywall } from "@sotto/resource-server";
import { slow } from "@sotto/test-kit/slow";
import { openPaywall } from "@sotto/test-world/paywall/options";
import { headerOf, showing } from "@sotto/test-world/paywall/payments";
import {
  forgeFor,
  type MerchantWorld,
  ORIGIN,
  openMerchantWorld,
  PRICE,
  pay,
  type Settled,
} from "@sotto/test-world/paywall/world";
import { expect } from "chai";
import { INVALID } from "./support/counter.ts";
import { ADAPTERS, FREE_BODY, proofOf, type ResourceServer, type Sale } from "./support/servers.ts";

describe("the resource server's table (interface 7)", function () {
  slow(this, "a chain, a service and proofs");
  let world: MerchantWorld;
  const settled = new Map<string, Settled>();
  before(async () => {
    world = await openMerchantWorld();
    const names = [...ADAPTERS.keys()];
    const payments = await Promise.all(names.map(() => pay(world, { target: "/paid/a?b=1" })));
    for (const [index, name] of names.entries()) settled.set(name, payments[index]!);
  });

  for (const [name, start] of ADAPTERS)
    describe(name, () => {
      let paywall: Paywall;
      let server: ResourceServer;
      const sales: Sale[] = [];
      before(async () => {
        paywall = await openPaywall(world);
        server = await start(paywall, (sale) => {
          sales.push(sale);
          return { status: 200, text: "the goods" };
        });
      });
      after(async () => {
        await server?.close();
        await paywall?.close();
      });
      const get = (path: string, init: RequestInit = {}) => fetch(`${server.url}${path}`, init);

      it("1: answers 402 with instructions if there is no header", async () => {
        const before = Date.now();
        const response = await get("/paid/a?b=1");
        expect(response.status).to.equal(402);
        expect(response.headers.get("www-authenticate")).to.equal("x402-zk");
        expect(response.headers.get("content-type")).to.match(/^application\/json/);
        expect(response.headers.get("cache-control")).to.equal("no-store");
        expect(response.headers.get("vary")?.toLowerCase()).to.include("x-payment-proof");
        expect(response.headers.get("access-control-expose-headers")?.toLowerCase()).to.include("www-authenticate");
        const body = await response.json();
        const { merchant, chainId, pool, token, service } = world;
        const address = new AddressBook(merchant.addresses).at(before)!;
        const { requestId, timestamp } = parseInstructions(body).metadata;
        expect(requestId).to.match(/^zk_req_[0-9]+_[0-9A-Za-z]+$/);
        expect(timestamp).to.be.within(before, Date.now());
        expect(requestId).to.include(`_${timestamp}_`);
        expect(body).to.deep.equal({
          status: 402,
          message: "Payment Required",
          protocol: "x402",
          privacy: "zero-knowledge",
          payment: {
            method: "service-zk",
            recipient: {
              phone: "",
              wallet: merchant.wallet,
              encryptedMapping: false,
              shieldedAddress: address.binding.key,
              signature: address.signature,
              issuedAt: address.binding.issuedAt,
              service: "",
            },
            schedule: { path: SCHEDULE_PATH, digest: scheduleDigest(merchant.addresses.schedule) },
            amount: 0.01,
            amountBaseUnits: String(PRICE),
            currency: "USDC",
            asset: token,
            decimals: 6,
            chainId: String(chainId),
            pool,
            privacy: { amountEncryption: "elgamal", senderPrivacy: "zero-knowledge", proofSystem: "groth16" },
            zkProof: {
              required: true,
              circuitUrl: `${service}/circuits`,
              provingKeyUrl: `${service}/proving-key`,
              expectedPublicInputs: ["recipientAddress", "resourceUrl", "encryptedAmount"],
              maxHeaderLength: 8192,
            },
            verifyEndpoint: `${service}/verify`,
            settleEndpoint: `${service}/settle`,
          },
          metadata: { requestId, timestamp, resource: `${ORIGIN}/paid/a?b=1` },
        });
      });

      it("2: answers 400 with the reason if the header is not JSON", async () => {
        for (const value of ["", "{", "x402", "{'a':1}", "[1,]", '{"a":1}}']) {
          const response = await get("/paid/a", { headers: showing(value) });
          expect(response.status, value).to.equal(400);
          const body = (await response.json()) as Record<string, unknown>;
          expect(Object.keys(body).sort()).to.deep.equal(["error", "message"]);
          expect(body["error"]).to.equal("Invalid payment proof format");
          expect(body["message"]).to.be.a("string").and.not.equal("");
          if (value !== "") expect(body["message"]).to.equal(parseError(value));
          expect(response.headers.get("cache-control")).to.equal("no-store");
        }
      });

      it("3: answers 402 without the reason if a check fails", async () => {
        const stale = forgeFor(world, { target: "/paid/a?b=1", timestamp: Date.now() - 301_000 });
        const wrong = { ...settled.get(name)!, bundle: stale };
        for (const value of ["null", "42", "[]", "{}", '"x"', headerOf(wrong)]) {
          const response = await get("/paid/a?b=1", { headers: showing(value) });
          expect(response.status, value.slice(0, 20)).to.equal(402);
          expect(await response.json()).to.deep.equal(INVALID);
          expect(response.headers.get("content-type")).to.match(/^application\/json/);
          expect(response.headers.get("cache-control")).to.equal("no-store");
        }
        expect(sales).to.deep.equal([]);
      });

      it("4: proceeds once, with the proof attached, if the header passes", async () => {
        const { bundle, txSignature } = settled.get(name)!;
        const headers = showing(headerOf(settled.get(name)!));
        const response = await get("/paid/a?b=1", { headers });
        expect([response.status, await response.text()]).to.deep.equal([200, "the goods"]);
        expect(response.headers.get("vary")?.toLowerCase()).to.include("x-payment-proof");
        expect(sales.map(({ method }) => method)).to.deep.equal(["GET"]);
        const payment = proofOf(sales[0]!);
        expect(payment.resource).to.equal(`${ORIGIN}/paid/a?b=1`);
        expect(payment.txSignature).to.equal(txSignature);
        expect(String(payment.nullifier)).to.equal(paymentSignals(bundle.publicSignals).nullifier);
        const again = await get("/paid/a?b=1", { headers });
        expect([again.status, await again.json()]).to.deep.equal([402, INVALID]);
        expect(sales.length).to.equal(1);
      });

      it("does not charge for health checks", async () => {
        const response = await get("/health");
        expect([response.status, await response.text()]).to.deep.equal([200, FREE_BODY]);
      });

      it("charges for HEAD and for unknown methods", async () => {
        const head = await get("/paid/a", { method: "HEAD" });
        expect([head.status, await head.text()]).to.deep.equal([402, ""]);
        expect(head.headers.get("www-authenticate")).to.equal("x402-zk");
        for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
          expect((await get("/paid/a", { method })).status, method).to.equal(402);
        expect(sales.length).to.equal(1);
      });
    });
});

function parseError(text: string): string {
  try {
    JSON.parse(text);
    throw new Error(`${text} is JSON`);
  } catch (error) {
    return (error as Error).message;
  }
}
