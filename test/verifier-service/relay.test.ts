import { join } from "node:path";
import { randomField } from "@sotto/protocol";
import { clockWithin, DAY_MS } from "@sotto/test-kit/clock";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { FaultyNode } from "@sotto/test-kit/faulty-node";
import { type Answer, call, post } from "@sotto/test-kit/http";
import { Random } from "@sotto/test-kit/random";
import { slow } from "@sotto/test-kit/slow";
import { proveWithdrawal, type Withdrawal, type WithdrawalFields } from "@sotto/test-pool/statements";
import { openService, openWorld, type TestService, type World } from "@sotto/test-world/service";
import { depositWithAuthorizationCall } from "@sotto/wallet";
import { expect } from "chai";
import { type HDNodeWallet, Signature, Wallet } from "ethers";
import { type DepositFields, depositBody } from "./support/deposits.ts";

const NOBODY = `0x${"00".repeat(20)}`;

describe("POST /deposit", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let service: TestService;
  let account: HDNodeWallet;
  const send = (body: unknown, by = service): Promise<Answer> => post(`${by.url}/deposit`, body);
  const sign = (fields: DepositFields = {}) => depositBody(world, account, fields);
  const refused = async (body: unknown, by = service) => {
    const { status, body: answer } = await send(body, by);
    return [status, answer["code"]];
  };

  before(async () => {
    world = await openWorld();
    service = await openService();
    account = Wallet.createRandom();
    await (await world.tokenContract.getFunction("mint")(account.address, 10n ** 12n)).wait();
  });
  after(() => service.close());

  it("relays a deposit of an account without ETH, once", async () => {
    const body = await sign({ amounts: [20_000n, 30_000n] });
    const { status, body: answer } = await send(body);
    expect(status).to.equal(200);
    expect(answer).to.include({ status: "success", gasFeePaidBy: service.relayer });
    expect(answer).to.have.all.keys("status", "txSignature", "blockNumber", "gasFeePaidBy", "id");
    expect((await send(body)).body).to.deep.equal(answer);
    const balance: bigint = await world.tokenContract.getFunction("balanceOf")(account.address);
    expect(balance).to.equal(10n ** 12n - 50_000n);
    const asked = await call(`${service.url}/settle/${answer["id"]}`);
    expect(asked.body["txSignature"]).to.equal(answer["txSignature"]);
  });

  it("rejects deposits signed by someone else, too late, too small or for another pool", async () => {
    const body = await sign();
    const now = BigInt(Math.floor(Date.now() / 1000));
    expect(await refused({ ...body, ownerTags: ["9"] })).to.deep.equal([422, "AUTHORIZATION_MISMATCH"]);
    expect(await refused({ ...body, amounts: ["20001"] })).to.deep.equal([422, "AUTHORIZATION_MISMATCH"]);
    expect(await refused({ ...body, salt: `0x${"11".repeat(32)}` })).to.deep.equal([422, "AUTHORIZATION_MISMATCH"]);
    expect(await refused({ ...body, from: service.relayer })).to.deep.equal([422, "AUTHORIZATION_MISMATCH"]);
    expect(await refused({ ...body, v: 55 - body.v })).to.deep.equal([422, "AUTHORIZATION_MISMATCH"]);
    expect(await refused({ ...body, pool: world.token })).to.deep.equal([422, "WRONG_DEPLOYMENT"]);
    expect(await refused({ ...body, chainId: "1" })).to.deep.equal([422, "WRONG_DEPLOYMENT"]);
    expect(await refused(await sign({ amounts: [9_999n] }))).to.deep.equal([422, "AMOUNT_TOO_SMALL"]);
    expect(await refused(await sign({ validBefore: now + 20n }))).to.deep.equal([422, "EXPIRED"]);
    expect(await refused(await sign({ validBefore: now + 90_000n }))).to.deep.equal([422, "VALIDITY_TOO_LONG"]);
    expect(await refused(await sign({ validAfter: now + 500n }))).to.deep.equal([422, "AUTHORIZATION_MISMATCH"]);
  });

  it("queues no deposit that its depositor cannot pay, unless it is already on chain", async () => {
    const poor = Wallet.createRandom();
    const body = await depositBody(world, poor, {});
    expect(await refused(body)).to.deep.equal([422, "INSUFFICIENT_TOKENS"]);
    const needed = body.amounts.reduce((sum, amount) => sum + BigInt(amount), 0n);
    await (await world.tokenContract.getFunction("mint")(poor.address, needed)).wait();
    const call = depositWithAuthorizationCall({ ...body, signature: Signature.from(body).serialized });
    const receipt = await world.send(call);
    const { body: answer } = await send(body);
    expect(answer).to.include({ status: "success", txSignature: receipt.hash });
    expect(answer["gasFeePaidBy"]).to.equal(world.depositor.address.toLowerCase());
  });

  it("accepts only as many deposits of an account as its balance covers, and settles those", async () => {
    const accounts = Array.from({ length: 5 }, () => Wallet.createRandom());
    for (const { address } of accounts) await (await world.tokenContract.getFunction("mint")(address, 50_000n)).wait();
    // This service's node estimates no gas, so accepted deposits stay open.
    const node = await FaultyNode.start(world.node.url);
    node.mode = "estimatesNoGas";
    const storeUrl = { SOTTO_STORE: `sqlite:${join(service.folder, "covered.sqlite")}` };
    const idle = await openService({ ...storeUrl, SOTTO_RPC_URLS: node.url, SOTTO_SETTLE_WAIT_MS: "0" });
    const bodies = await Promise.all(
      accounts.flatMap((owner) => Array.from({ length: 4 }, () => depositBody(world, owner, { amounts: [40_000n] }))),
    );
    const answers: Answer[] = [];
    try {
      for (const answer of await Promise.all(bodies.map((body) => send(body, idle)))) answers.push(answer);
    } finally {
      await idle.close();
      await node.stop();
    }
    const refusals = answers.filter(({ status }) => status !== 202);
    expect(refusals.map(({ body }) => body["code"])).to.deep.equal(Array(15).fill("INSUFFICIENT_TOKENS"));
    expect(refusals[0]!.body["message"]).to.equal(
      "`from` has 50000 base units, of which its open deposits (1) take 40000, but the notes take 40000; wait until those are settled, or deposit at most 10000",
    );
    const ids = answers.filter(({ status }) => status === 202).map(({ body }) => String(body["id"]));
    expect(ids).to.have.lengthOf(5);
    const working = closedAfterTest(await openService(storeUrl));
    for (const id of ids) {
      let answer: Answer;
      do answer = await call(`${working.url}/settle/${id}`);
      while (answer.body["status"] === "pending");
      expect(answer.body["status"]).to.equal("success");
    }
  });

  it("answers 400 to undecodable input", async () => {
    const body = await sign();
    expect(await refused({ ...body, ownerTags: ["1", "2"] })).to.deep.equal([400, "INVALID_REQUEST"]);
    // 91 is equivalent to 27 in a transaction's signature (EIP-155), but not in an authorization's.
    for (const v of [0, 5, body.v + 64]) expect((await refused({ ...body, v }))[1]).to.equal("INVALID_REQUEST");
    expect(await refused({ ...body, r: `0X${body.r.slice(2)}` })).to.deep.equal([400, "INVALID_HEX"]);
    expect(await refused({ ...body, ownerTags: ["0"] })).to.deep.equal([400, "INVALID_REQUEST"]);
    expect(await refused({ ...body, amounts: ["18446744073709551616"] })).to.deep.equal([400, "INVALID_AMOUNT"]);
    expect(await refused({ ...body, salt: `0x${"GG".repeat(32)}` })).to.deep.equal([400, "INVALID_HEX"]);
    expect(await refused({ ...body, validBefore: "0x12" })).to.deep.equal([400, "INVALID_REQUEST"]);
    expect(await refused({})).to.deep.equal([400, "INVALID_REQUEST"]);
  });

  it("requires its fee as one of the notes, and limits deposits with and without a fee", async () => {
    const fee = { SOTTO_DEPOSIT_FEE: "15000", SOTTO_FEE_TAG: "77", SOTTO_SPONSOR_QUOTA: "1" };
    const paid = closedAfterTest(await openService(fee, clockWithin(DAY_MS)));
    expect(await refused(await sign(), paid)).to.deep.equal([422, "FEE_TOO_SMALL"]);
    expect(await refused(await sign({ ownerTags: [1n, 77n], amounts: [20_000n, 14_999n] }), paid)).to.deep.equal([
      422,
      "FEE_TOO_SMALL",
    ]);
    const relayed = await send(await sign({ ownerTags: [1n, 77n], amounts: [20_000n, 15_000n] }), paid);
    expect(relayed.body["status"]).to.equal("success");
    // A deposit that reverts on chain pays no fee.
    const second = await sign({ ownerTags: [1n, 77n], amounts: [20_000n, 15_000n] });
    expect(await refused(second, paid)).to.deep.equal([429, "QUOTA_EXCEEDED"]);
    const mean = closedAfterTest(await openService({ SOTTO_SPONSOR_QUOTA: "1" }, clockWithin(DAY_MS)));
    const body = await sign();
    const { body: answer } = await send(body, mean);
    // A repeated request gets the same response and does not count against the quota.
    expect((await send(body, mean)).body).to.deep.equal(answer);
    expect(answer["status"]).to.equal("success");
    expect(await refused(await sign(), mean)).to.deep.equal([429, "QUOTA_EXCEEDED"]);
  });

  it("counts a deposit once for each 750,000 gas that it may use", async () => {
    const mean = closedAfterTest(await openService({ SOTTO_SPONSOR_QUOTA: "2" }, clockWithin(DAY_MS)));
    // 16 notes may use 1.5 million gas, 17 more.
    const notes = (count: number) => sign({ amounts: Array.from({ length: count }, () => 10_000n) });
    expect((await send(await notes(1), mean)).body["status"]).to.equal("success");
    expect(await refused(await notes(16), mean)).to.deep.equal([429, "QUOTA_EXCEEDED"]);
    expect((await send(await notes(1), mean)).body["status"]).to.equal("success");
    expect(await refused(await notes(1), mean)).to.deep.equal([429, "QUOTA_EXCEEDED"]);
  });
});

describe("POST /withdraw", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let service: TestService;
  let root: bigint;
  const random = new Random("withdrawals of the service");
  const send = (body: unknown, by = service): Promise<Answer> => post(`${by.url}/withdraw`, body);
  const refused = async (body: unknown, by = service) => {
    const { status, body: answer } = await send(body, by);
    return [status, answer["code"]];
  };
  const make = (fields: Partial<WithdrawalFields> = {}) => {
    const validUntil = BigInt(Math.floor(Date.now() / 1000) + 300);
    const place = { chainId: BigInt(world.chainId), pool: world.pool };
    const defaults = { root, validUntil, amount: 0n, nullifiers: [randomField()], recipient: NOBODY };
    return toWire(proveWithdrawal(place, random, { ...defaults, ...fields }));
  };

  before(async () => {
    world = await openWorld();
    service = await openService();
    root = world.root;
  });
  after(() => service.close());

  it("relays a withdrawal, once", async () => {
    const recipient = random.address().toLowerCase();
    const body = make({ amount: 5_000n, recipient });
    const { status, body: answer } = await send(body);
    expect([status, answer["status"]]).to.deep.equal([200, "success"]);
    expect((await send(body)).body).to.deep.equal(answer);
    expect(await world.tokenContract.getFunction("balanceOf")(recipient)).to.equal(5_000n);
  });

  it("rejects fields that differ from the proof, and withdrawals that cannot be executed", async () => {
    const body = make();
    const other = make();
    expect(await refused({ ...body, proof: other.proof })).to.deep.equal([422, "INVALID_PROOF"]);
    expect(await refused({ ...body, recipient: service.relayer })).to.deep.equal([422, "CONTEXT_MISMATCH"]);
    expect(await refused({ ...body, validUntil: other.validUntil + 1 })).to.deep.equal([422, "CONTEXT_MISMATCH"]);
    expect(await refused(make({ root: randomField() }))).to.deep.equal([422, "UNKNOWN_ROOT"]);
    expect(await refused(make({ validUntil: 1n }))).to.deep.equal([422, "EXPIRED"]);
    expect(await refused(make({ amount: 1n, fee: 2n }))).to.deep.equal([400, "INVALID_REQUEST"]);
    expect(await refused(make({ amount: 1n }))).to.deep.equal([400, "INVALID_REQUEST"]);
    expect(await refused(make({ nullifiers: [5n, 5n] }))).to.deep.equal([400, "INVALID_REQUEST"]);
    expect(await refused(make({ nullifiers: [0n] }))).to.deep.equal([400, "INVALID_REQUEST"]);
    expect(await refused({ ...body, proof: [...body.proof.slice(0, 7), "1"] })).to.deep.equal([
      400,
      "PROOF_NOT_ON_CURVE",
    ]);
  });

  it("rejects a second withdrawal of the same note", async () => {
    const nullifier = randomField();
    const [first, second] = [make({ nullifiers: [nullifier] }), make({ nullifiers: [randomField(), nullifier] })];
    expect((await send(first)).body["status"]).to.equal("success");
    expect(await refused(second)).to.deep.equal([409, "NULLIFIER_SPENT"]);
  });

  it("requires its fee", async () => {
    const paid = closedAfterTest(await openService({ SOTTO_WITHDRAWAL_FEE: "1000" }));
    expect(await refused(make({ amount: 1_000n, fee: 1_000n }), paid)).to.deep.equal([422, "FEE_TOO_SMALL"]);
    const { body } = await send(make({ amount: 1_000n, fee: 1_000n, feeRecipient: paid.relayer }), paid);
    expect(body["status"]).to.equal("success");
    expect(await world.tokenContract.getFunction("balanceOf")(paid.relayer)).to.equal(1_000n);
  });
});

function toWire({ signals, fee, validUntil, ...rest }: Withdrawal) {
  return { ...rest, signals: signals.map(String), fee: String(fee), validUntil: String(validUntil) };
}
