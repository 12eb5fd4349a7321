// The service as an x402 facilitator, tested with requests that were not created by this project's packages.

import { proveWithTrapdoor } from "@sotto/keys/setup/trapdoor";
import { BASE8, encodeShieldedAddress, paymentSignals, randomField } from "@sotto/protocol";
import { X402_SCHEME, x402Network } from "@sotto/protocol/x402";
import { clockWithin, DAY_MS } from "@sotto/test-kit/clock";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { type Answer, call, post } from "@sotto/test-kit/http";
import { slow } from "@sotto/test-kit/slow";
import { RESOURCE, settleRequest } from "@sotto/test-world/bundles";
import { openService, openWorld, type TestService, type World } from "@sotto/test-world/service";
import { bodyOf, type Changes, PRICE, pay, requirements, type X402Body } from "@sotto/test-world/x402";
import { expect } from "chai";

const strangersAddress = { encryptionKey: BASE8, ownerTag: 7n };
const HASH = /^0x[0-9a-f]{64}$/;

describe("the service as an x402 facilitator", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let service: TestService;
  let root: bigint;
  let network: string;
  const asked = (changes?: Changes) => requirements(world, service.url, changes);
  const payment = (changes?: Changes): X402Body => bodyOf(asked(changes), pay(world, { root }));
  const verify = (body: unknown, by = service): Promise<Answer> => post(`${by.url}/verify`, body);
  const settle = (body: unknown, by = service): Promise<Answer> => post(`${by.url}/settle`, body);
  const isSpent = ({ paymentPayload }: X402Body): Promise<boolean> =>
    world.poolContract.getFunction("isSpent")(BigInt(paymentSignals(paymentPayload.payload.publicSignals).nullifier));

  before(async () => {
    world = await openWorld();
    service = await openService();
    root = world.root;
    network = x402Network(BigInt(world.chainId));
  });
  after(() => service.close());

  it("lists the scheme, the pool and the signer", async () => {
    const { status, body } = await call(`${service.url}/supported`);
    expect(status).to.equal(200);
    const [kind] = body["kinds"] as { extra: Record<string, unknown> }[];
    expect(kind).to.deep.include({ x402Version: 2, scheme: X402_SCHEME, network });
    expect(kind!.extra).to.include({ pool: world.pool, asset: world.token, decimals: 6 });
    const sets = (await call(`${service.url}/circuits`)).body["artifactSet"] as { id: string };
    expect(kind!.extra["artifactSet"]).to.equal(sets.id);
    expect(body["signers"]).to.deep.equal({ "eip155:*": [service.relayer] });
    expect(body["extensions"]).to.deep.equal([]);
  });

  it("verifies and settles with exactly the standard's fields", async () => {
    const body = payment();
    const verified = await verify(body);
    expect([verified.status, verified.body]).to.deep.equal([200, { isValid: true }]);
    const settled = await settle(body);
    const { transaction, extra, ...rest } = settled.body as Record<string, unknown> & { transaction: string };
    expect([settled.status, rest]).to.deep.equal([200, { success: true, network }]);
    expect(transaction).to.match(HASH);
    expect(extra).to.have.keys("id", "blockNumber");
    const receipt = await world.provider.getTransactionReceipt(transaction);
    const { blockNumber } = extra as { blockNumber: number };
    expect(receipt).to.include({ status: 1, blockNumber });
    expect(await isSpent(body)).to.equal(true);
  });

  it("settles an unverified payment after the same checks, and once for five concurrent requests", async () => {
    const body = payment();
    const answers = await Promise.all(Array.from({ length: 5 }, () => settle(body)));
    const later = await settle(body);
    expect(later.body["success"]).to.equal(true);
    for (const answer of answers) expect(answer.body).to.deep.equal(later.body);
    expect(await isSpent(body)).to.equal(true);
  });

  it("settles in one format what was verified in the other, once", async () => {
    const body = payment();
    const bundle = body.paymentPayload.payload;
    const token = (await post(`${service.url}/verify`, bundle)).body["paymentToken"];
    const [theirs, ours] = await Promise.all([
      settle(body),
      post(`${service.url}/settle`, settleRequest(bundle, token)),
    ]);
    expect(theirs!.body["transaction"]).to.equal(ours!.body["txSignature"]);
    expect((theirs!.body["extra"] as { id: string }).id).to.equal(ours!.body["id"]);
  });

  it("answers pending with hash and location, and accepts the same payment again", async () => {
    const hasty = await openService({ SOTTO_SETTLE_WAIT_MS: "0" });
    const mineAgain = async () => {
      await world.provider.send("evm_setAutomine", [true]);
      await world.provider.send("hardhat_mine", []);
    };
    // While automining is off, the payment cannot settle.
    await world.provider.send("evm_setAutomine", [false]);
    try {
      const body = bodyOf(requirements(world, hasty.url), pay(world, { root }));
      const first = await settle(body, hasty);
      expect([first.status, first.body["success"], first.body["errorReason"]]).to.deep.equal([
        ...[202, false, "settlement_pending"],
      ]);
      expect(first.body["transaction"]).to.match(/^(0x[0-9a-f]{64})?$/);
      const { id, statusUrl } = first.body["extra"] as { id: string; statusUrl: string };
      expect(statusUrl).to.match(new RegExp(`/settle/${id}$`));
      let again = first;
      await mineAgain();
      while (again.status === 202) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        again = await settle(body, hasty);
      }
      expect(again.body).to.include({ success: true, network });
    } finally {
      await mineAgain();
      await hasty.close();
    }
  });

  it("accepts extension fields of any depth", async () => {
    const { paymentPayload, ...body } = payment();
    const schema = {
      properties: { input: { properties: { queryParams: { properties: { city: { type: "string" } } } } } },
    };
    const extensions = { bazaar: { info: { input: { type: "http", method: "GET" } }, schema } };
    const resource = { url: RESOURCE, description: "", mimeType: "", tags: ["report"] };
    const answer = await settle({ ...body, paymentPayload: { ...paymentPayload, resource, extensions } });
    expect([answer.status, answer.body["success"]]).to.deep.equal([200, true]);
  });

  describe("rejects in verify and settle, and sends nothing", () => {
    const refused = async (body: unknown, reason: string, status = 200) => {
      const [verified, settled] = [await verify(body), await settle(body)];
      expect([verified.status, verified.body["isValid"], verified.body["invalidReason"]]).to.deep.equal([
        ...[status, false, reason],
      ]);
      expect(verified.body["invalidMessage"]).to.be.a("string").and.not.equal("");
      const { success, errorReason, transaction } = settled.body;
      expect([settled.status, success, errorReason, transaction, settled.body["network"]]).to.deep.equal([
        ...[status, false, reason, "", network],
      ]);
    };
    /** The payload and the requirements agree with each other, but not with the payment. */
    const changed = (body: X402Body, { extra, ...fields }: Changes): X402Body => {
      const next = { ...body.paymentRequirements, ...fields };
      return bodyOf({ ...next, extra: { ...next.extra, ...extra } }, body.paymentPayload.payload);
    };
    const withPayload = (body: X402Body, changes: object): X402Body =>
      bodyOf(body.paymentRequirements, { ...body.paymentPayload.payload, ...changes });
    const otherKey = { shieldedAddress: encodeShieldedAddress(strangersAddress), signature: "0x11", issuedAt: 0 };

    const lies: [string, Changes, string][] = [
      ["a payment one unit short of the price", { amount: String(PRICE + 1n) }, "sotto_amount_mismatch"],
      ["a payment one unit above the price", { amount: String(PRICE - 1n) }, "sotto_amount_mismatch"],
      ["a payment to another wallet", { payTo: `0x${"22".repeat(20)}` }, "sotto_recipient_mismatch"],
      ["the right wallet with another key", { extra: { recipient: otherKey } }, "sotto_recipient_mismatch"],
      ["a payment for another resource", { extra: { resource: `${RESOURCE}&page=2` } }, "sotto_resource_mismatch"],
      ["another token", { asset: `0x${"33".repeat(20)}` }, "sotto_deployment_mismatch"],
      ["another pool", { extra: { pool: `0x${"33".repeat(20)}` } }, "sotto_deployment_mismatch"],
      ["decimals that make a price look small", { extra: { decimals: 18 } }, "sotto_deployment_mismatch"],
    ];
    for (const [what, changes, reason] of lies)
      it(what, async () => {
        const body = changed(payment(), changes);
        await refused(body, reason);
        expect(await isSpent(body)).to.equal(false);
      });

    it("bounds wider than the price allows, or that do not start at it", async () => {
      for (const bounds of [{ lowerBound: PRICE - 1n }, { upperBound: (PRICE * 11n) / 10n + 1n }])
        await refused(bodyOf(asked(), pay(world, { root, ...bounds })), "sotto_amount_mismatch");
    });

    it("different requirements than the payer accepted", async () => {
      const { paymentPayload, ...rest } = payment();
      const accepted = { ...paymentPayload.accepted, amount: String(PRICE / 2n) };
      await refused({ ...rest, paymentPayload: { ...paymentPayload, accepted } }, "sotto_accepted_mismatch");
    });

    it("a payment older than the requirements allow, or from the future", async () => {
      const old = bodyOf(asked({ maxTimeoutSeconds: 10 }), pay(world, { root, timestamp: Date.now() - 15_000 }));
      await refused(old, "sotto_timestamp_too_old");
      await refused(
        bodyOf(asked(), pay(world, { root, timestamp: Date.now() + 600_000 })),
        "sotto_timestamp_in_future",
      );
    });

    it("another proof, an unknown root, another artifact set", async () => {
      const body = payment();
      await refused(withPayload(body, { proof: body.paymentPayload.payload.amountProof }), "sotto_invalid_proof");
      await refused(bodyOf(asked(), pay(world, { root: randomField() })), "sotto_unknown_root");
      await refused(withPayload(body, { artifactSet: "another" }), "sotto_artifact_set_mismatch");
    });

    it("a second payment of a settled note, and the settled one with another proof", async () => {
      const nullifier = randomField();
      const first = bodyOf(asked(), pay(world, { root, nullifier }));
      expect((await settle(first)).body["success"]).to.equal(true);
      await refused(bodyOf(asked(), pay(world, { root, nullifier })), "sotto_nullifier_spent");
      const { publicSignals } = first.paymentPayload.payload;
      const { proof } = proveWithTrapdoor("payment", publicSignals.map(BigInt));
      await refused(withPayload(first, { proof }), "sotto_nullifier_spent");
      expect((await settle(first)).body["success"]).to.equal(true);
    });

    it("another scheme, network or version, each by its name", async () => {
      const body = payment();
      await refused(changed(body, { scheme: "exact" }), "unsupported_scheme", 400);
      await refused(changed(body, { network: "eip155:1" }), "invalid_network", 400);
      await refused(changed(body, { network: "solana:mainnet" }), "invalid_network", 400);
      await refused({ ...body, x402Version: 1 }, "invalid_x402_version", 400);
      await refused({ ...body, x402Version: "2" }, "invalid_x402_version", 400);
      const { paymentPayload } = body;
      await refused({ ...body, paymentPayload: { ...paymentPayload, x402Version: 1 } }, "invalid_x402_version", 400);
      const version1 = {
        x402Version: 1,
        paymentPayload: { x402Version: 1, scheme: "exact", network: "base-sepolia", payload: {} },
        paymentRequirements: { scheme: "exact", network: "base-sepolia", maxAmountRequired: "10000" },
      };
      await refused(version1, "invalid_x402_version", 400);
      // The response tells a client of the service's own interface why its body was read as x402.
      const own = await post(`${service.url}/verify`, { x402Version: 2, ...paymentPayload.payload });
      expect([own.status, own.body["code"]]).to.deep.equal([400, "X402_PAYLOAD_INVALID"]);
      expect(own.body["message"]).to.include("read as x402 because it has x402Version; omit that field");
    });

    it("undecodable input, with 400 and the standard's fields", async () => {
      const body = payment();
      await refused(withPayload(body, { timestamp: "now" }), "invalid_payload", 400);
      await refused(withPayload(body, { proof: body.paymentPayload.payload.proof.slice(1) }), "invalid_payload", 400);
      await refused(changed(body, { extra: { recipient: "me" } }), "invalid_payment_requirements", 400);
      await refused(changed(body, { amount: "1.5" }), "invalid_payment_requirements", 400);
      await refused(changed(body, { amount: "0" }), "invalid_payment_requirements", 400);
      const { paymentPayload, paymentRequirements } = body;
      await refused({ x402Version: 2, paymentRequirements }, "invalid_payload", 400);
      await refused({ ...body, paymentPayload: [] }, "invalid_payload", 400);
      await refused({ x402Version: 2, paymentPayload }, "invalid_payment_requirements", 400);
      const text = { ...paymentRequirements, maxTimeoutSeconds: "300" };
      await refused({ ...body, paymentRequirements: text }, "invalid_payment_requirements", 400);
      const point = [...body.paymentPayload.payload.proof];
      point[0] = "1";
      await refused(withPayload(body, { proof: point }), "sotto_proof_not_on_curve", 400);
    });
  });

  it("shares quotas with the other format, and reports them in both formats' fields", async () => {
    const strict = closedAfterTest(
      await openService({ SOTTO_CLIENT_QUOTA: "1", SOTTO_RECIPIENT_QUOTA: "1" }, clockWithin(DAY_MS)),
    );
    const make = () => bodyOf(requirements(world, strict.url), pay(world, { root }));
    const body = make();
    expect((await verify(body, strict)).body).to.deep.equal({ isValid: true });
    const { status, headers, body: answer } = await verify(make(), strict);
    expect([status, answer["isValid"], answer["invalidReason"], answer["code"]]).to.deep.equal([
      ...[429, false, "sotto_quota_exceeded", "QUOTA_EXCEEDED"],
    ]);
    expect(Number(headers.get("retry-after"))).to.be.within(1, 86_400);
    const late = await settle(make(), strict);
    expect([late.status, late.body["success"], late.body["transaction"]]).to.deep.equal([429, false, ""]);
    // A payment verified in time settles, even if the client repeats the request.
    for (let i = 0; i < 3; i += 1) expect((await settle(body, strict)).body["success"]).to.equal(true);
  });

  it("does not count payments that can no longer settle against a recipient's quota", async () => {
    let ahead = 0;
    const clock = clockWithin(DAY_MS);
    const strict = closedAfterTest(await openService({ SOTTO_RECIPIENT_QUOTA: "1" }, () => clock() + ahead));
    const make = () => bodyOf(requirements(world, strict.url), pay(world, { root }));
    const late = make();
    expect((await verify(late, strict)).body).to.deep.equal({ isValid: true });
    ahead = 200_000;
    for (let i = 0; i < 3; i += 1) expect((await settle(late, strict)).body["success"]).to.equal(false);
    ahead = 0;
    expect((await settle(make(), strict)).body["success"]).to.equal(true);
  });

  it("with a public address, settles only for resource servers that name it", async () => {
    const publicUrl = "https://zk.example/zk";
    const named = closedAfterTest(await openService({ SOTTO_PUBLIC_URL: "https://ZK.example/zk/" }));
    const [kind] = (await call(`${named.url}/supported`)).body["kinds"] as { extra: { service: string } }[];
    expect(kind!.extra.service).to.equal(publicUrl);
    const of = (service: string) => bodyOf(requirements(world, service), pay(world, { root }));
    for (const same of [publicUrl, `${publicUrl}/`, "https://Zk.Example:443/zk"])
      expect((await verify(of(same), named)).body, same).to.deep.equal({ isValid: true });
    const other = await verify(of("https://other.example/zk"), named);
    expect(other.body["invalidReason"]).to.equal("sotto_deployment_mismatch");
  });
});
