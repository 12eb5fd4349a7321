// HTTP responses of a service that is busy, shutting down, or waiting for the chain.

import { once } from "node:events";
import { connect } from "node:net";
import { randomField } from "@sotto/protocol";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { type Answer, call, post } from "@sotto/test-kit/http";
import { slow } from "@sotto/test-kit/slow";
import { forgeBundle, settleRequest } from "@sotto/test-world/bundles";
import { openService, openWorld, type TestService, type World } from "@sotto/test-world/service";
import { bodyOf, requirements } from "@sotto/test-world/x402";
import { expect } from "chai";

/** Its transactions are mined but never get sixty confirmations, because no block follows. */
const UNCONFIRMED = { SOTTO_CONFIRMATIONS: "60", SOTTO_BLOCK_TIME_MS: "1000", SOTTO_SETTLE_WAIT_MS: "0" };

describe("a service", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let root: bigint;
  before(async () => {
    world = await openWorld();
    const service = await openService();
    root = world.root;
    await service.close();
  });

  const queue = async (service: TestService, nullifier: bigint): Promise<Answer> => {
    const bundle = forgeBundle(world, { root, nullifier });
    const token = (await post(`${service.url}/verify`, bundle)).body["paymentToken"];
    return post(`${service.url}/settle`, settleRequest(bundle, token));
  };

  it("rejects a second payment of a queued note: NULLIFIER_QUEUED", async () => {
    const service = closedAfterTest(await openService(UNCONFIRMED));
    const nullifier = randomField();
    expect((await queue(service, nullifier)).body["status"]).to.equal("pending");
    const other = forgeBundle(world, { root, nullifier });
    const { status, body } = await post(`${service.url}/verify`, other);
    expect([status, body["valid"], body["reason"]]).to.deep.equal([200, false, "NULLIFIER_QUEUED"]);
    const asked = requirements(world, service.url);
    const theirs = await post(`${service.url}/settle`, bodyOf(asked, other));
    expect([theirs.status, theirs.body["errorReason"]]).to.deep.equal([200, "sotto_nullifier_queued"]);
  });

  it("answers a request that arrives during shutdown: SHUTTING_DOWN", async () => {
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
    // A complete request is sent first: once it is answered, the beginning of the next one has arrived too.
    const begun = `GET ${pathname}/circuits HTTP/1.1\r\nhost: ${hostname}\r\n`;
    socket.write(`GET /healthz HTTP/1.1\r\nhost: ${hostname}\r\n\r\n${begun}`);
    await once(socket, "data");
    const closing = service.close();
    while ((await call(`${service.origin}/healthz`).then(String, () => "gone")) !== "gone");
    socket.write("\r\n");
    const [, said = ""] = (await answered).split(/(?=HTTP\/1\.1 503 )/);
    await closing;
    expect(said)
      .to.match(/"SHUTTING_DOWN"/)
      .and.match(/retry-after: 5/i)
      .and.match(/connection: close/i);
    expect(await call(`${service.origin}/healthz`).then(String, () => "gone")).to.equal("gone");
  });

  it("rejects requests under overload, but stays alive: OVERLOADED", async () => {
    const service = closedAfterTest(await openService({ SOTTO_LATEST_LOOP_MS: "100" }));
    const bundle = forgeBundle(world, { root });
    const answers: Answer[] = [];
    const ask = async () => {
      const asked = [post(`${service.url}/verify`, bundle), call(`${service.origin}/healthz`)];
      answers.push(...(await Promise.all(asked)));
    };
    const busyFor = async (ms: number, until = () => false) => {
      for (const start = Date.now(); Date.now() - start < ms && !until(); ) {
        for (const end = Date.now() + 150; Date.now() < end; );
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    // The service measures its event-loop delay every second, so at least twice before the requests. The event loop
    // stays busy until the first answer.
    await busyFor(2_500);
    await Promise.all([ask(), busyFor(Number.POSITIVE_INFINITY, () => answers.length > 0)]);
    const [busy, alive] = answers as [Answer, Answer];
    expect([busy.status, busy.body["code"], alive.status]).to.deep.equal([503, "OVERLOADED", 200]);
    expect(busy.headers.get("retry-after")).to.equal("5");
  });
});
