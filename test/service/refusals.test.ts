// Answers of a service that is busy, ending, or waiting for the chain, over HTTP.
import { connect } from "node:net";
import { randomField } from "@sotto/protocol";
import { expect } from "chai";
import { bodyOf, requirements } from "../x402/support/requirements.ts";
import { forgeBundle } from "./support/bundles.ts";
import { type Answer, call, post, settleRequest } from "./support/http.ts";
import { knownRoot, openService, openWorld, type TestService, type World } from "./support/world.ts";

/** Pays for no gas: what it queues waits. */
const BROKE = { SOTTO_GAS_BUDGET: "1", SOTTO_SETTLE_WAIT_MS: "0" };

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe("a service that", () => {
  let world: World;
  let root: bigint;
  before(async () => {
    world = await openWorld();
    const service = await openService();
    root = await knownRoot(world);
    await service.close();
  });

  const queue = async (service: TestService, nullifier: bigint): Promise<Answer> => {
    const bundle = forgeBundle(world, { root, nullifier });
    const token = (await post(`${service.url}/verify`, bundle)).body["paymentToken"];
    return post(`${service.url}/settle`, settleRequest(bundle, token));
  };

  it("has a payment on its way takes no other of the same note: NULLIFIER_QUEUED", async () => {
    const service = await openService(BROKE);
    try {
      const nullifier = randomField();
      expect((await queue(service, nullifier)).body["status"]).to.equal("pending");
      const other = forgeBundle(world, { root, nullifier });
      const { status, body } = await post(`${service.url}/verify`, other);
      expect([status, body["valid"], body["reason"]]).to.deep.equal([200, false, "NULLIFIER_QUEUED"]);
      const asked = requirements(world, service.url);
      const theirs = await post(`${service.url}/settle`, bodyOf(asked, other));
      expect([theirs.status, theirs.body["errorReason"]]).to.deep.equal([200, "sotto_nullifier_queued"]);
    } finally {
      await service.close();
    }
  });

  it("ends answers a request that was still arriving with SHUTTING_DOWN, and then it is gone", async () => {
    const service = await openService();
    const { hostname, port } = new URL(service.origin);
    const socket = connect(Number(port), hostname);
    const answered = new Promise<string>((resolve) => {
      let said = "";
      socket.setEncoding("utf8").on("data", (text: string) => {
        said += text;
      });
      socket.on("error", () => undefined).on("close", () => resolve(said));
    });
    const { pathname } = new URL(service.url);
    socket.write(`GET ${pathname}/circuits HTTP/1.1\r\nhost: ${hostname}\r\n`);
    await pause(300);
    const closing = service.close();
    await pause(300);
    socket.write("\r\n");
    const said = await answered;
    await closing;
    expect(said).to.match(/^HTTP\/1\.1 503 /);
    expect(said)
      .to.match(/"SHUTTING_DOWN"/)
      .and.match(/retry-after: 5/i)
      .and.match(/connection: close/i);
    expect(await call(`${service.origin}/healthz`).then(String, () => "gone")).to.equal("gone");
  });

  it("cannot keep up sends away what it would answer late, and still says that it is alive: OVERLOADED", async () => {
    const service = await openService();
    try {
      for (let i = 0; i < 3; i += 1) {
        for (const end = Date.now() + 2_300; Date.now() < end; );
        await new Promise((resolve) => setImmediate(resolve));
      }
      const [busy, alive] = await Promise.all([
        post(`${service.url}/verify`, forgeBundle(world, { root })),
        call(`${service.origin}/healthz`),
      ]);
      expect([busy.status, busy.body["code"], alive.status]).to.deep.equal([503, "OVERLOADED", 200]);
      expect(busy.headers.get("retry-after")).to.equal("5");
    } finally {
      await service.close();
    }
  });
});
