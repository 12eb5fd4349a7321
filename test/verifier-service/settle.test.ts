import { setTimeout as sleep } from "node:timers/promises";
import {
  BASE8,
  encodeShieldedAddress,
  multiplyPoint,
  paymentSignals,
  randomField,
  resourceDigest,
  validUntilOf,
} from "@sotto/protocol";
import { clockWithin, DAY_MS } from "@sotto/test-kit/clock";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { type Answer, call, claimsOf, post } from "@sotto/test-kit/http";
import { slow } from "@sotto/test-kit/slow";
import { forgeBundle, merchantTag, settleRequest } from "@sotto/test-world/bundles";
import { openService, openWorld, type TestService, type World } from "@sotto/test-world/service";
import { settleCall } from "@sotto/wallet";
import { expect } from "chai";
import { getAddress } from "ethers";

const PRIVACY = { amountVisibleOnChain: false, senderAddressHidden: true, observerCannotLinkTransactions: true };

describe("POST /settle", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let service: TestService;
  let root: bigint;
  const verify = async (bundle: unknown, by = service) =>
    String((await post(`${by.url}/verify`, bundle)).body["paymentToken"]);
  const settle = (body: unknown, by = service): Promise<Answer> => post(`${by.url}/settle`, body);
  const verified = async () => {
    const bundle = forgeBundle(world, { root });
    const token = await verify(bundle);
    return { bundle, token, request: settleRequest(bundle, token) };
  };
  /** Resumes automining, and mines the waiting transactions. */
  const mineAgain = async () => {
    await world.provider.send("evm_setAutomine", [true]);
    await world.provider.send("hardhat_mine", []);
  };
  const isSpent = (nullifier: string): Promise<boolean> => world.poolContract.getFunction("isSpent")(BigInt(nullifier));

  before(async () => {
    world = await openWorld();
    service = await openService();
    root = world.root;
  });
  after(() => service.close());

  it("settles from the six fields, and answers with the fields of the interface", async () => {
    const { bundle, token, request } = await verified();
    const { status, body } = await settle(request);
    const { txSignature, blockNumber, ...rest } = body;
    const id = claimsOf(token)["jti"];
    expect(rest).to.deep.equal({ status: "success", gasFeePaidBy: service.relayer, privacy: PRIVACY, id });
    expect(status).to.equal(200);
    const receipt = await world.provider.getTransactionReceipt(String(txSignature));
    expect(receipt).to.include({ status: 1, blockNumber });
    expect(receipt!.from.toLowerCase()).to.equal(service.relayer);
    expect(await isSpent(paymentSignals(bundle.publicSignals).nullifier)).to.equal(true);
  });

  it("gives the same response for the same token, and sends one transaction", async () => {
    const { token, request } = await verified();
    const answers = await Promise.all([settle(request), settle(request), settle(request)]);
    const later = await settle(request);
    const asked = await call(`${service.url}/settle/${claimsOf(token)["jti"]}`);
    for (const answer of [...answers, asked]) expect(answer.body).to.deep.equal(later.body);
    expect(later.body["status"]).to.equal("success");
  });

  it("accepts the whole bundle too, and a missing resource", async () => {
    const [first, second] = [await verified(), await verified()];
    const full = await settle({ ...first.bundle, ...first.request });
    const { resource: _, ...least } = second.request;
    expect([full.body["status"], (await settle(least)).body["status"]]).to.deep.equal(["success", "success"]);
  });

  it("accepts the recipient in any spelling that verify accepts", async () => {
    const bundle = forgeBundle(world, { root });
    const recipientPublicKey = getAddress(bundle.recipientPublicKey);
    expect(recipientPublicKey).to.not.equal(bundle.recipientPublicKey);
    const token = await verify({ ...bundle, recipientPublicKey });
    expect(claimsOf(await verify(bundle))["jti"]).to.equal(claimsOf(token)["jti"]);
    const request = settleRequest(bundle, token);
    for (const spelling of [recipientPublicKey, bundle.recipientPublicKey])
      expect((await settle({ ...request, recipientPublicKey: spelling })).body["status"]).to.equal("success");
  });

  it("answers 409 to any payment other than the token's, and sends nothing", async () => {
    const { bundle, request } = await verified();
    const other = forgeBundle(world, { root });
    const same = { root, nullifier: BigInt(paymentSignals(bundle.publicSignals).nullifier) };
    const changes = [
      { proof: other.proof },
      { publicSignals: forgeBundle(world, same).publicSignals },
      { encryptedAmount: other.encryptedAmount },
      { recipientPublicKey: `0x${"11".repeat(20)}` },
      { resource: `${bundle.resourceUrl}?` },
      { timestamp: bundle.timestamp + 1 },
      { senderCommitment: other.senderCommitment },
      { amountProof: other.amountProof },
    ];
    for (const change of changes) {
      const { status, body } = await settle({ ...request, ...change });
      expect([status, body["code"]], Object.keys(change)[0]).to.deep.equal([409, "PAYMENT_MISMATCH"]);
    }
    expect(await isSpent(paymentSignals(bundle.publicSignals).nullifier)).to.equal(false);
  });

  it("rejects tokens that it did not issue", async () => {
    const { request, token } = await verified();
    const [header = "", payload = "", signature = ""] = token.split(".");
    const claims = { ...claimsOf(token), jti: "other" };
    const forged = Buffer.from(JSON.stringify(claims)).toString("base64url");
    const none = Buffer.from(JSON.stringify({ alg: "none", typ: "sotto-payment-2+jwt" })).toString("base64url");
    const tokens = [`${header}.${forged}.${signature}`, `${none}.${payload}.`, `${header}.${payload}`, "x", "a.b.c"];
    for (const paymentToken of tokens) {
      const { status, body } = await settle({ ...request, paymentToken });
      expect([status, body["code"]]).to.deep.equal([401, "INVALID_TOKEN"]);
    }
    const stranger = closedAfterTest(await openService());
    const { status } = await settle(request, stranger);
    expect(status).to.equal(401);
  });

  it("lets another bundle of the same note replace a merely verified one, whose token becomes invalid", async () => {
    const nullifier = randomField();
    const [older, newer] = [forgeBundle(world, { root, nullifier }), forgeBundle(world, { root, nullifier })];
    const [olderToken, newerToken] = [await verify(older), await verify(newer)];
    const dead = await settle(settleRequest(older, olderToken));
    expect([dead.status, dead.body["code"]]).to.deep.equal([409, "TOKEN_REPLACED"]);
    expect((await settle(settleRequest(newer, newerToken))).body["status"]).to.equal("success");
    const { body } = await post(`${service.url}/verify`, forgeBundle(world, { root, nullifier }));
    expect([body["valid"], body["reason"]]).to.deep.equal([false, "NULLIFIER_SPENT"]);
  });

  it("answers 202 pending with a location if the wait is too short", async () => {
    const slow = await openService({ SOTTO_SETTLE_WAIT_MS: "0" });
    // While automining is off, the payment cannot settle.
    await world.provider.send("evm_setAutomine", [false]);
    try {
      const bundle = forgeBundle(world, { root });
      const { status, headers, body } = await settle(settleRequest(bundle, await verify(bundle, slow)), slow);
      expect(status).to.equal(202);
      const { txSignature, id, ...rest } = body;
      const statusUrl = `/zk/settle/${id}`;
      expect(rest).to.deep.equal({
        status: "pending",
        blockNumber: 0,
        gasFeePaidBy: slow.relayer,
        privacy: PRIVACY,
        statusUrl,
      });
      expect(txSignature).to.match(/^0x/);
      expect(headers.get("location")).to.equal(statusUrl);
      const asked = () => call(`${slow.origin}${statusUrl}`);
      expect((await asked()).body["status"]).to.equal("pending");
      await mineAgain();
      while ((await asked()).body["status"] === "pending") await sleep(50);
      const { status: later, body: settled } = await asked();
      expect([later, settled["status"]]).to.deep.equal([200, "success"]);
    } finally {
      await mineAgain();
      await slow.close();
    }
  });

  it("rejects a token that expired before settlement, and still answers for a settled one", async () => {
    let ahead = 0;
    const later = closedAfterTest(await openService({}, () => Date.now() + ahead));
    const [settled, late] = [forgeBundle(world, { root }), forgeBundle(world, { root })];
    const [first, second] = [await verify(settled, later), await verify(late, later)];
    const before = await settle(settleRequest(settled, first), later);
    expect(before.body["status"]).to.equal("success");
    ahead = 181_000;
    expect((await settle(settleRequest(settled, first), later)).body).to.deep.equal(before.body);
    const { status, body } = await settle(settleRequest(late, second), later);
    expect([status, body["code"]]).to.deep.equal([410, "TOKEN_EXPIRED"]);
    expect(await isSpent(paymentSignals(late.publicSignals).nullifier)).to.equal(false);
  });

  it("names the account that paid the gas if someone else settled first", async () => {
    const { bundle, request } = await verified();
    const { proof, publicSignals: signals, resourceUrl, timestamp, senderCommitment } = bundle;
    const digest = resourceDigest({ resourceUrl, timestamp, senderCommitment: BigInt(senderCommitment) });
    const payment = { proof, signals, validUntil: String(validUntilOf(timestamp)), resourceDigest: digest };
    const call = settleCall(world.pool, [payment]);
    const receipt = await world.send(call);
    const { status, body } = await settle(request);
    expect([status, body["status"], body["txSignature"]]).to.deep.equal([200, "success", receipt.hash]);
    expect(body["gasFeePaidBy"]).to.equal(world.depositor.address.toLowerCase());
  });

  it("answers 404 to unknown ids", async () => {
    const { status, body } = await call(`${service.url}/settle/nobody`);
    expect([status, body["code"]]).to.deep.equal([404, "UNKNOWN_PAYMENT"]);
  });

  it("counts payments per client and per recipient, and answers 429 beyond the quota", async () => {
    const strict = closedAfterTest(await openService({ SOTTO_CLIENT_QUOTA: "2" }, clockWithin(DAY_MS)));
    const answers = [];
    for (let i = 0; i < 3; i += 1) answers.push(await post(`${strict.url}/verify`, forgeBundle(world, { root })));
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 429]);
    expect(answers[2]!.body["code"]).to.equal("QUOTA_EXCEEDED");
    expect(answers[2]!.body["message"]).to.match(
      /^quota exceeded: 2 checked proofs a day for one network; retry in \d+ (s|min|h)$/,
    );
    expect(Number(answers[2]!.headers.get("retry-after"))).to.be.within(1, 86_400);
    // Another month's address of the wallet that is paid.
    const served = { encryptionKey: multiplyPoint(BASE8, 7n), ownerTag: merchantTag };
    const settings = { SOTTO_RECIPIENTS: encodeShieldedAddress(served), SOTTO_RECIPIENT_QUOTA: "1" };
    const closed = closedAfterTest(await openService(settings, clockWithin(DAY_MS)));
    // The same wallet with another tag counts as another recipient.
    const other = forgeBundle(world, { root }, { ownerTag: merchantTag + 1n });
    expect((await post(`${closed.url}/verify`, other)).body["reason"]).to.equal("RECIPIENT_NOT_SERVED");
    // Verifications do not count against the recipient's quota, so nobody can use them to block real payers.
    const bundle = forgeBundle(world, { root });
    // The quota applies to the owner that is paid, regardless of the named wallet and key.
    const renamed = forgeBundle(world, { root, recipient: `0x${"11".repeat(20)}` }, { key: served.encryptionKey });
    const [token, second] = [await verify(bundle, closed), await verify(renamed, closed)];
    const paid = await settle(settleRequest(bundle, token), closed);
    expect(paid.body["status"]).to.equal("success");
    const { status, body } = await settle(settleRequest(renamed, second), closed);
    expect([status, body["code"]]).to.deep.equal([429, "QUOTA_EXCEEDED"]);
    expect((await settle(settleRequest(bundle, token), closed)).body).to.deep.equal(paid.body);
  });
});
