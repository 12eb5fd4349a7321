// A client that follows only the interface treats every status except success as a failure, and pays again.

import { setTimeout as sleep } from "node:timers/promises";
import { CuttingProxy } from "@sotto/test-kit/cutting-proxy";
import { type Answer, post } from "@sotto/test-kit/http";
import { inLongRun } from "@sotto/test-kit/matrix";
import { slow } from "@sotto/test-kit/slow";
import { forgeBundle, settleRequest } from "@sotto/test-world/bundles";
import { openService, openWorld, type TestService, type World } from "@sotto/test-world/service";
import { expect } from "chai";

const CONFIRMATIONS = 4;
const BLOCK_MS = 2_000;
const SETTINGS = {
  // The default, as for an operator who does not set it.
  SOTTO_SETTLE_WAIT_MS: "",
  SOTTO_CONFIRMATIONS: String(CONFIRMATIONS),
  SOTTO_BLOCK_TIME_MS: String(BLOCK_MS),
  // `pass` waits for dozens of rounds in real time.
  SOTTO_POLL_MS: "20",
};

describe("POST /settle holds the request of a client that follows only the interface", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  beforeEach(async () => {
    await world.provider.send("evm_setAutomine", [false]);
  });
  afterEach(async () => {
    await world.provider.send("evm_setAutomine", [true]);
    await world.provider.send("hardhat_mine", []);
  });

  /** Runs a service whose clock advances only with `pass`, so that 90 s pass immediately even on a slow machine. */
  const withService = async (
    act: (service: TestService, pass: (ms: number) => Promise<void>) => Promise<void>,
    settings: Record<string, string> = {},
  ): Promise<void> => {
    let now = Date.now();
    let looks = 0;
    const clock = () => {
      looks += 1;
      return now;
    };
    const service = await openService({ ...SETTINGS, ...settings }, clock);
    const pass = async (ms: number) => {
      now += ms;
      // The relayer and the waiting requests read the clock in each of their rounds.
      for (const seen = looks; looks < seen + 50; ) await sleep(5);
    };
    try {
      await act(service, pass);
    } finally {
      await service.close();
    }
  };
  const verified = async (service: TestService) => {
    const bundle = forgeBundle(world, { root: world.root });
    const { body } = await post(`${service.url}/verify`, bundle);
    return settleRequest(bundle, body["paymentToken"]);
  };
  const settle = (service: TestService, request: object, prefer?: string): Promise<Answer> =>
    post(`${service.url}/settle`, request, prefer === undefined ? {} : { prefer });
  /**
   * Waits until the relayer has sent the payment. The relayer first waits briefly for other payments: at most two
   * seconds on the service's clock, but longer in real time on a busy machine. The tests measure from here.
   */
  const sent = async (service: TestService, pass: (ms: number) => Promise<void>) => {
    const { logged } = service;
    // Otherwise the two seconds can pass before the payment is queued. It would not be sent then.
    await untilHeld(service, 1);
    for (let passed = 0; !logged.some((line) => line.includes('"kind":"settle"')); passed += 20)
      await (passed < 2_000 ? pass(20) : sleep(20));
  };
  const held = async ({ origin }: TestService): Promise<number> => {
    const metrics = await (await fetch(`${origin}/metrics`)).text();
    return Number(/^sotto_settle_held (\d+)$/m.exec(metrics)?.[1]);
  };
  const untilHeld = async (service: TestService, count: number) => {
    while ((await held(service)) !== count) await sleep(20);
  };

  for (const stall of inLongRun([90_000], [3 * BLOCK_MS]))
    it(`so that it pays once, through a stall of ${stall / 1000} s and four confirmations`, () =>
      withService(async (service, pass) => {
        const answering = settle(service, await verified(service));
        await sent(service, pass);
        await pass(stall);
        for (let block = 0; block < CONFIRMATIONS; block += 1) {
          await pass(BLOCK_MS);
          await world.provider.send("hardhat_mine", []);
        }
        const { status, body } = await answering;
        expect([status, body["status"]]).to.deep.equal([200, "success"]);
      }));

  it("until the payment can no longer settle", () =>
    withService(async (service, pass) => {
      const answering = settle(service, await verified(service));
      await sent(service, pass);
      let answered = false;
      void answering.then(() => (answered = true));
      await pass(118_000);
      // The deadline is 120 to 180 s after the bundle. Small steps, because the request waits only 12 s longer.
      while (!answered) await pass(4_000);
      const { status, body } = await answering;
      expect([status, body["status"], body["reason"]]).to.deep.equal([200, "failed", "EXPIRED"]);
    }));

  it("and never answers pending: an unknown outcome is a retryable error", async () => {
    const node = new CuttingProxy(world.node.url);
    const away = { SOTTO_RPC_URLS: await node.listen() };
    await withService(async (service, pass) => {
      const request = await verified(service);
      const answering = settle(service, request);
      await sent(service, pass);
      node.left = -1;
      await pass(181_000 + (CONFIRMATIONS + 2) * BLOCK_MS);
      const { status, headers, body } = await answering;
      expect([status, body["code"], headers.get("retry-after")]).to.deep.equal([503, "SETTLEMENT_UNKNOWN", "5"]);
      expect(body).to.not.have.property("status");
    }, away).finally(() => node.close());
  });

  it("unless the client prefers an asynchronous response, which names this preference", () =>
    withService(async (service, pass) => {
      const request = await verified(service);
      const { status, headers, body } = await settle(service, request, "respond-async");
      expect([status, body["status"]]).to.deep.equal([202, "pending"]);
      expect(headers.get("preference-applied")).to.equal("respond-async");
      expect(headers.get("location")).to.equal(`/zk/settle/${body["id"]}`);
      const patient = settle(service, request, 'foo; bar="x, respond-async", wait=7, respond-async');
      await untilHeld(service, 1);
      await pass(6_999);
      expect(await held(service)).to.equal(1);
      await pass(1);
      expect([(await patient).status, (await patient).headers.get("preference-applied")]).to.deep.equal([
        202,
        "respond-async, wait=7",
      ]);
    }));

  it("only while the client stays connected", () =>
    withService(async (service) => {
      const request = await verified(service);
      const leaving = new AbortController();
      const body = JSON.stringify(request);
      const headers = { "content-type": "application/json" };
      const asking = fetch(`${service.url}/settle`, { method: "POST", headers, body, signal: leaving.signal });
      await untilHeld(service, 1);
      leaving.abort();
      await asking.catch(() => undefined);
      await untilHeld(service, 0);
    }));

  it("up to a maximum: beyond it nothing is queued, except for clients that accept pending", () =>
    withService(
      async (service, pass) => {
        const [first, second] = [await verified(service), await verified(service)];
        const waiting = settle(service, first);
        await untilHeld(service, 1);
        const { status, headers, body } = await settle(service, second);
        expect([status, body["code"], headers.get("retry-after")]).to.deep.equal([503, "OVERLOADED", "5"]);
        const id = JSON.parse(Buffer.from(String(second["paymentToken"]).split(".")[1]!, "base64url").toString()).jti;
        expect((await fetch(`${service.url}/settle/${id}`)).status).to.equal(404);
        expect((await settle(service, second, "respond-async, wait=60")).status).to.equal(202);
        await sent(service, pass);
        await world.provider.send("hardhat_mine", ["0x10"]);
        expect((await waiting).body["status"]).to.equal("success");
      },
      { SOTTO_MAX_HELD: "1" },
    ));
});
