// The published Express middleware with sotto's scheme, attacked by a payer that writes its own headers.

import { encodeShieldedAddress } from "@sotto/protocol";
import { slow } from "@sotto/test-kit/slow";
import { merchantKey, merchantTag, type Payment } from "@sotto/test-world/bundles";
import { openService, openWorld, type TestService, type World } from "@sotto/test-world/service";
import { type Changes, PRICE } from "@sotto/test-world/x402";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import { type Accepted, challenge as ask, headerOf, bundleFor as make, show as send } from "./support/payer.ts";
import { decode, encode, openResourceServer, type ResourceServer, signRecipient } from "./support/resource-server.ts";

describe("a resource server on the published @x402/express", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let service: TestService;
  let server: ResourceServer;
  let root: bigint;
  const account = Account.createRandom();
  const address = encodeShieldedAddress({ encryptionKey: merchantKey, ownerTag: merchantTag });

  before(async () => {
    world = await openWorld();
    service = await openService();
    root = world.root;
    server = await openResourceServer(world, await signRecipient(world, account, address), service.url);
  });
  after(async () => {
    await server.close();
    await service.close();
  });

  const challenge = (path = "/report") => ask(server.origin + path);
  const bundleFor = (accepted: Accepted, payment: Partial<Payment> = {}) => make(world, root, accepted, payment);
  const show = (header: string, path = "/report", name?: string) => send(server.origin + path, header, name);

  it("asks in the standard's header, with everything a payer needs", async () => {
    const accepted = await challenge();
    expect(accepted).to.deep.include({
      scheme: "sotto",
      network: `eip155:${world.chainId}`,
      asset: world.token,
      amount: String(PRICE),
      payTo: account.address.toLowerCase(),
      maxTimeoutSeconds: 300,
    });
    const { challenge: name, artifactSet, recipient, ...extra } = accepted.extra;
    expect(extra).to.deep.equal({
      pool: world.pool,
      decimals: 6,
      service: service.url,
      resource: `${server.origin}/report`,
      paymentFlow: "upfront",
    });
    expect(recipient).to.have.keys("shieldedAddress", "signature", "issuedAt");
    expect(artifactSet).to.be.a("string");
    expect((await challenge()).extra["challenge"])
      .to.be.a("string")
      .and.not.equal(name);
    expect((await fetch(`${server.origin}/health`)).status).to.equal(200);
  });

  it("settles, serves, and names the transaction", async () => {
    const accepted = await challenge();
    const before = server.served();
    const paid = await show(headerOf(accepted, bundleFor(accepted)));
    expect([paid.status, JSON.parse(paid.body)]).to.deep.equal([200, { report: "paid" }]);
    expect(paid.answer).to.include({ success: true, network: `eip155:${world.chainId}` });
    expect(paid.answer).to.not.have.property("payer");
    expect(await world.provider.getTransactionReceipt(String(paid.answer["transaction"]))).to.include({ status: 1 });
    expect(server.served() - before).to.equal(1);
  });

  it("runs the handler once for five concurrent identical headers, and never again", async () => {
    const accepted = await challenge();
    const header = headerOf(accepted, bundleFor(accepted));
    const before = server.served();
    const answers = await Promise.all(Array.from({ length: 5 }, () => show(header)));
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 402, 402, 402, 402]);
    const again = await show(header);
    expect([again.status, again.answer["errorReason"]]).to.deep.equal([402, "sotto_payment_used"]);
    expect(server.served() - before).to.equal(1);
  });

  it("accepts one payment once, also with other proof bytes or another challenge", async () => {
    const accepted = await challenge();
    const bundle = bundleFor(accepted);
    expect((await show(headerOf(accepted, bundle))).status).to.equal(200);
    const before = server.served();
    const again = await show(headerOf(await challenge(), { ...bundle, amountProof: bundleFor(accepted).amountProof }));
    expect([again.status, again.answer["errorReason"]]).to.deep.equal([402, "sotto_payment_used"]);
    expect(server.served()).to.equal(before);
  });

  it("rejects a payment for another resource, for either claimed resource", async () => {
    const [report, other] = [await challenge(), await challenge("/other")];
    const bundle = bundleFor(report);
    const before = server.served();
    // The accepted requirements are the other route's, not this one's.
    expect((await show(headerOf(report, bundle), "/other")).required["error"]).to.equal(
      "No matching payment requirements",
    );
    // Here the accepted requirements are this route's.
    expect((await show(headerOf(other, bundle), "/other")).required["error"]).to.equal("sotto_resource_mismatch");
    expect((await show(headerOf(report, bundle), "/report?page=2")).status).to.equal(402);
    expect(server.served()).to.equal(before);
    expect((await show(headerOf(report, bundle))).status).to.equal(200);
  });

  it("ignores the Host header of the request", async () => {
    const { hostname, port } = new URL(server.origin);
    const { request } = await import("node:http");
    const required = await new Promise<string>((resolve, reject) => {
      const options = { host: hostname, port, path: "/report", headers: { host: "evil.example" } };
      request(options, (response) => resolve(String(response.headers["payment-required"])))
        .on("error", reject)
        .end();
    });
    const [accepted] = decode(required)["accepts"] as Accepted[];
    expect(accepted!.extra["resource"]).to.equal(`${server.origin}/report`);
  });

  const cheats: [string, (accepted: Accepted) => object, string][] = [
    ["one unit too little", () => ({ amount: PRICE - 1n, lowerBound: PRICE - 1n }), "sotto_amount_mismatch"],
    ["one unit too much room above", () => ({ upperBound: (PRICE * 11n) / 10n + 1n }), "sotto_amount_mismatch"],
    ["another wallet", () => ({ recipient: `0x${"22".repeat(20)}` }), "sotto_recipient_mismatch"],
    ["a header from the future", () => ({ timestamp: Date.now() + 600_000 }), "sotto_timestamp_in_future"],
    ["a stale header", () => ({ timestamp: Date.now() - 301_000 }), "sotto_timestamp_too_old"],
  ];
  for (const [what, payment, reason] of cheats)
    it(`rejects ${what} without a request`, async () => {
      const accepted = await challenge();
      const before = server.served();
      const answer = await show(headerOf(accepted, bundleFor(accepted, payment(accepted))));
      expect([answer.status, answer.required["error"]]).to.deep.equal([402, reason]);
      expect(server.served()).to.equal(before);
    });

  it("rejects requirements that the payer wrote", async () => {
    const accepted = await challenge();
    const before = server.served();
    const cheap: Changes = { amount: "1000" };
    const bundle = bundleFor(accepted, { amount: 1000n });
    for (const changes of [
      cheap,
      { payTo: `0x${"22".repeat(20)}` },
      { extra: { ...accepted.extra, pool: world.token } },
    ]) {
      const { status, required } = await show(headerOf({ ...accepted, ...changes }, bundle));
      expect([status, required["error"]]).to.deep.equal([402, "No matching payment requirements"]);
    }
    expect(server.served()).to.equal(before);
  });

  it("rejects an invented tree through the service, and accepts an honest payment of the same note", async () => {
    const accepted = await challenge();
    const invented = await show(headerOf(accepted, bundleFor(accepted, { root: 12345n })));
    expect([invented.status, invented.answer["success"], invented.answer["errorReason"]]).to.deep.equal([
      ...[402, false, "sotto_unknown_root"],
    ]);
    expect(invented.answer["transaction"]).to.equal("");
  });

  it("answers version 1, malformed and empty headers with a new challenge", async () => {
    const accepted = await challenge();
    const before = server.served();
    const bundle = bundleFor(accepted);
    const version1 = encode({ x402Version: 1, scheme: "sotto", network: accepted["network"], payload: bundle });
    for (const header of [version1, "", "%%%", encode(null), encode(42), encode([]), encode({ x402Version: 2 })]) {
      const { status } = await show(header);
      expect(status, header.slice(0, 20)).to.be.oneOf([402, 500]);
    }
    expect((await show(version1, "/report", "X-PAYMENT")).status).to.equal(402);
    expect((await show(headerOf(accepted, bundle, 1))).status).to.equal(402);
    expect(server.served()).to.equal(before);
  });
});
