import { createServer, request as httpRequest } from "node:http";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { type Answer, call, post } from "@sotto/test-kit/http";
import { startPostgres } from "@sotto/test-kit/postgres";
import { slow } from "@sotto/test-kit/slow";
import { forgeBundle, settleRequest } from "@sotto/test-world/bundles";
import { openService, openWorld, type TestService, type World } from "@sotto/test-world/service";
import { expect } from "chai";

describe("an outage", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let root: bigint;
  let other: TestService;
  before(async () => {
    world = await openWorld();
    other = await openService();
    root = world.root;
  });
  after(() => other.close());
  const shows = ({ status, headers, body }: Answer, code: string) => {
    expect([status, body["code"]]).to.deep.equal([503, code]);
    expect(headers.get("retry-after")).to.equal("5");
  };
  const notReady = async (service: TestService, name: string) => {
    const { status, body } = await call(`${service.url}/readyz`);
    expect([status, body["ready"]]).to.deep.equal([503, false]);
    expect((body["checks"] as Record<string, { ok: boolean }>)[name]!.ok).to.equal(false);
    expect((await call(`${service.url}/healthz`)).status).to.equal(200);
  };

  it("of all nodes stops verification", async () => {
    const proxy = await openProxy(world.node.url);
    const service = closedAfterTest(await openService({ SOTTO_RPC_URLS: proxy.url }));
    await proxy.close();
    shows(await post(`${service.url}/verify`, forgeBundle(world, { root })), "CHAIN_UNAVAILABLE");
    await notReady(service, "chain");
    const metrics = `${service.origin}/metrics`;
    const failed = /sotto_relayer_errors_total\{code="(\w+)"\} [1-9]/g;
    const codes = async () => [...(await (await fetch(metrics)).text()).matchAll(failed)].map(([, code]) => code);
    while ((await codes()).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await codes()).to.deep.equal(["NODE_UNREACHABLE"]);
  });

  it("of one node of two has no effect", async () => {
    const service = closedAfterTest(await openService({ SOTTO_RPC_URLS: `http://127.0.0.1:1,${world.node.url}` }));
    const bundle = forgeBundle(world, { root });
    const { body } = await post(`${service.url}/verify`, bundle);
    const settled = await post(`${service.url}/settle`, settleRequest(bundle, body["paymentToken"]));
    expect(settled.body["status"]).to.equal("success");
  });

  it("of the database stops reservations and responses", async () => {
    const postgres = await startPostgres();
    const service = await openService({ SOTTO_STORE: await postgres.database() });
    try {
      const bundle = forgeBundle(world, { root });
      const { body } = await post(`${service.url}/verify`, bundle);
      expect(body["valid"]).to.equal(true);
      await postgres.stop();
      shows(await post(`${service.url}/verify`, bundle), "STORE_UNAVAILABLE");
      shows(await post(`${service.url}/settle`, settleRequest(bundle, body["paymentToken"])), "STORE_UNAVAILABLE");
      shows(await call(`${service.url}/settle/x`), "STORE_UNAVAILABLE");
      await notReady(service, "store");
    } finally {
      await service.close();
      // Stops the database if the test failed before it did.
      await postgres.stop();
    }
  });

  it("of the relayer's ETH makes the service not ready", async () => {
    const service = closedAfterTest(await openService({ SOTTO_LEAST_BALANCE: String(10n ** 30n) }));
    await notReady(service, "relayer");
  });
});

/** Forwards requests to a node until it is closed. */
async function openProxy(target: string): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((incoming, outgoing) => {
    const options = { method: "POST", headers: { "content-type": "application/json" } };
    const passed = httpRequest(target, options, (answer) => answer.pipe(outgoing));
    passed.on("error", () => outgoing.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
