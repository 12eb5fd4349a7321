// The service issues no token for a payment that it could not settle, and reports that it is not ready.

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { eventually } from "@sotto/test-kit/eventually";
import { FaultyNode } from "@sotto/test-kit/faulty-node";
import { type Answer, call, post } from "@sotto/test-kit/http";
import { Random } from "@sotto/test-kit/random";
import { slow } from "@sotto/test-kit/slow";
import { proveWithdrawal } from "@sotto/test-pool/statements";
import { forgeBundle } from "@sotto/test-world/bundles";
import { openService, openWorld, relayerKey, type TestService, type World } from "@sotto/test-world/service";
import { bodyOf, pay, requirements } from "@sotto/test-world/x402";
import { expect } from "chai";
import { Wallet } from "ethers";
import { depositBody } from "./support/deposits.ts";

const MINUTE_MS = 60_000;

describe("requests that could not be settled", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  const running: TestService[] = [];
  const open = async (...options: Parameters<typeof openService>) => {
    const service = await openService(...options);
    running.push(service);
    return service;
  };
  before(async () => {
    world = await openWorld();
  });
  afterEach(async () => {
    for (const service of running.splice(0)) await service.close();
  });

  const checkOf = async (service: TestService, name: string) => {
    const { status, body } = await call(`${service.url}/readyz`);
    return [status, body["ready"], (body["checks"] as Record<string, unknown>)[name]];
  };
  const shows = ({ status, headers, body }: Answer, code: string, seconds: [least: number, most: number]) => {
    expect([status, body["code"]]).to.deep.equal([503, code]);
    expect(body).to.not.have.property("paymentToken");
    expect(Number(headers.get("retry-after"))).to.be.within(...seconds);
  };
  const rows = (service: TestService, table: string) => {
    const file = new DatabaseSync(join(service.folder, "store.sqlite"), { readOnly: true });
    const { count } = file.prepare(`select count(*) as count from ${table}`).get() as { count: number };
    file.close();
    return count;
  };

  const cases: [
    what: string,
    check: string,
    code: string,
    settings: Record<string, string>,
    retry: [number, number],
  ][] = [
    ["the day's budget is spent", "budget", "GAS_BUDGET_EXHAUSTED", { SOTTO_GAS_BUDGET: "1" }, [1, 86_400]],
    ["gas is dearer than the cap", "fees", "FEES_TOO_HIGH", { SOTTO_MAX_FEE_PER_GAS: "1" }, [30, 60]],
    ["its account is empty", "relayer", "RELAYER_BALANCE_LOW", { SOTTO_LEAST_BALANCE: String(10n ** 30n) }, [300, 300]],
  ];
  for (const [what, check, code, settings, retry] of cases)
    it(`are rejected by every route with Retry-After while ${what}`, async () => {
      const service = await open(settings);
      const bundle = forgeBundle(world, { root: world.root });
      shows(await post(`${service.url}/verify`, bundle), code, retry);
      const body = bodyOf(requirements(world, service.url), pay(world, { root: world.root }));
      for (const path of ["verify", "settle"]) {
        const answer = await post(`${service.url}/${path}`, body);
        shows(answer, code, retry);
        expect(answer.body[path === "verify" ? "isValid" : "success"]).to.equal(false);
      }
      const account = Wallet.createRandom();
      await (await world.tokenContract.getFunction("mint")(account.address, 20_000n)).wait();
      shows(await post(`${service.url}/deposit`, await depositBody(world, account, {})), code, retry);
      shows(await post(`${service.url}/withdraw`, withdrawal()), code, retry);
      expect(["reservations", "claims", "operations", "quotas"].map((table) => rows(service, table))).to.deep.equal([
        0, 0, 0, 0,
      ]);
      expect(await checkOf(service, check)).to.deep.equal([503, false, { ok: false, code }]);
      // The payment's own error comes first, because retrying would not help its payer.
      const late = forgeBundle(world, { root: world.root, timestamp: Date.now() - 10 * MINUTE_MS });
      expect((await post(`${service.url}/verify`, late)).body).to.include({
        valid: false,
        reason: "TIMESTAMP_TOO_OLD",
      });
    });

  it("are rejected while the chain produces no blocks", async () => {
    const clock = () => Date.now() + 60 * MINUTE_MS;
    const service = await open({ SOTTO_MAX_HEAD_AGE_MS: String(30 * MINUTE_MS) }, clock);
    const bundle = forgeBundle(world, { root: world.root, timestamp: clock() });
    shows(await post(`${service.url}/verify`, bundle), "HEAD_TOO_OLD", [30, 30]);
    expect(await checkOf(service, "head")).to.deep.equal([503, false, { ok: false, code: "HEAD_TOO_OLD" }]);
  });

  it("are rejected by all replicas while the leader is stuck, and accepted again afterwards", async () => {
    const node = await FaultyNode.start(world.node.url);
    let passed = 0;
    const clock = () => Date.now() + passed;
    const key = relayerKey();
    const settings = { SOTTO_RPC_URLS: node.url, SOTTO_RELAYER_KEY: key };
    const leader = await open(settings, clock);
    const store = join(leader.folder, "store.sqlite");
    await eventually(async () => (rows(leader, "rounds") > 0 ? true : undefined));
    const standby = await open({ ...settings, SOTTO_STORE: `sqlite:${store}` }, clock);
    for (const service of [leader, standby])
      expect(await checkOf(service, "leader")).to.deep.equal([200, true, { ok: true }]);
    try {
      // From now on every round fails, because the node hides an event that the contract emitted.
      node.mode = "hidesEvents";
      await (await world.poolContract.getFunction("deposit")([7n], [20_000n], { gasLimit: 1_000_000n })).wait();
      await eventually(async () => leader.logged.some((line) => line.includes("a round of the relayer failed")));
      const file = new DatabaseSync(store);
      file.exec(`pragma busy_timeout = 60000; update rounds set ended_at = ended_at - ${2 * MINUTE_MS}`);
      file.close();
      passed = 2 * MINUTE_MS;
      for (const service of [leader, standby]) {
        const bundle = forgeBundle(world, { root: world.root, timestamp: clock() });
        shows(await post(`${service.url}/verify`, bundle), "RELAYER_STUCK", [30, 30]);
        expect(await checkOf(service, "leader")).to.deep.equal([503, false, { ok: false, code: "RELAYER_STUCK" }]);
      }
      node.mode = "honest";
      await eventually(async () => {
        passed += 2_000;
        return (await checkOf(standby, "leader"))[0] === 200;
      });
      const bundle = forgeBundle(world, { root: world.root, timestamp: clock() });
      expect((await post(`${standby.url}/verify`, bundle)).body["valid"]).to.equal(true);
    } finally {
      await standby.close();
      await leader.close();
      running.length = 0;
      await node.stop();
    }
  });

  function withdrawal() {
    const random = new Random(`withdrawal ${Math.random()}`);
    const validUntil = BigInt(Math.floor(Date.now() / 1000) + 300);
    const terms = { root: world.root, validUntil, nullifiers: [random.field()], amount: 5_000n };
    const place = { chainId: BigInt(world.chainId), pool: world.pool };
    const { proof, signals, recipient, fee, feeRecipient } = proveWithdrawal(place, random, {
      ...terms,
      recipient: random.address(),
    });
    const numbers = { proof: proof.map(String), signals: signals.map(String), fee: String(fee) };
    return { ...numbers, recipient, feeRecipient, validUntil: String(validUntil) };
  }
});
