// What an operator reads at /metrics of a running service.

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { EXTENSIONS } from "@sotto/service";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { eventually } from "@sotto/test-kit/eventually";
import { FaultyNode } from "@sotto/test-kit/faulty-node";
import { call, post } from "@sotto/test-kit/http";
import { slow } from "@sotto/test-kit/slow";
import { forgeBundle, settleRequest } from "@sotto/test-world/bundles";
import { leaseRunsOut } from "@sotto/test-world/relayer/service";
import { openService, openWorld, type TestService, type World } from "@sotto/test-world/service";
import { openStore } from "@sotto/verifier-service";
import { expect } from "chai";

const SECRET = "0123456789abcdef0123456789abcdef";

describe("the metrics of a service", function () {
  slow(this, "a chain, services and proofs");
  let world: World;
  let first: FaultyNode;
  before(async () => {
    world = await openWorld();
  });
  beforeEach(async () => {
    first = await FaultyNode.start(world.node.url);
  });
  afterEach(() => first.stop());

  const scrape = async ({ metricsUrl }: TestService) => (await fetch(metricsUrl)).text();
  /** The value of a series; undefined if it is not shown. */
  const valueIn = (text: string, series: string) => {
    const line = text.split("\n").find((each) => each.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length + 1));
  };
  const value = async (service: TestService, series: string) => valueIn(await scrape(service), series);

  it("are at an address of their own if the settings name one, and nowhere else", async () => {
    const service = closedAfterTest(await openService({ SOTTO_METRICS_PORT: "0" }));
    expect(service.metricsUrl).to.not.include(service.origin);
    expect(await value(service, "sotto_ready")).to.equal(1);
    expect((await fetch(`${service.origin}/metrics`)).status).to.equal(404);
    expect((await call(`${service.origin}/readyz`)).status).to.equal(200);
    expect((await fetch(new URL("/readyz", service.metricsUrl))).status).to.equal(404);
  });

  it("show how long a payment took to settle", async () => {
    const service = closedAfterTest(await openService());
    expect(await value(service, 'sotto_relayer_settle_seconds_count{kind="payment"}')).to.equal(0);
    const bundle = forgeBundle(world, { root: world.root });
    const { body } = await post(`${service.url}/verify`, bundle);
    const settled = await post(`${service.url}/settle`, settleRequest(bundle, body["paymentToken"]));
    expect(settled.body["status"]).to.equal("success");
    const text = await scrape(service);
    expect(valueIn(text, 'sotto_relayer_settle_seconds_count{kind="payment"}')).to.equal(1);
    expect(valueIn(text, 'sotto_relayer_settle_seconds_sum{kind="payment"}')).to.be.greaterThan(0);
    expect(valueIn(text, 'sotto_settle_answers_total{status="success"}')).to.equal(1);
    expect(valueIn(text, 'sotto_verify_total{result="valid"}')).to.equal(1);
  });

  it("name a node that fails, and never the key in its URL", async () => {
    const keyed = `${first.url}/v3/${SECRET}?apikey=${SECRET}`;
    const service = closedAfterTest(await openService({ SOTTO_RPC_URLS: `${keyed},${world.node.url}` }));
    const [bad, good] = [keyed, world.node.url].map((url, node) => `node="${node}",host="${new URL(url).host}"`);
    expect(await value(service, `sotto_node_chosen{${bad}}`)).to.equal(1);
    first.mode = "hasNoKey";
    await eventually(async () => (await value(service, `sotto_node_paused{${bad}}`)) === 1);
    const text = await scrape(service);
    expect(valueIn(text, `sotto_node_faults_total{${bad},code="NODE_ERROR"}`)).to.be.greaterThan(0);
    expect(valueIn(text, `sotto_node_faults_total{${good},code="NODE_ERROR"}`)).to.equal(0);
    expect(valueIn(text, `sotto_node_requests_total{${good}}`)).to.be.greaterThan(0);
    expect(text).to.not.include(SECRET);
    expect(service.logged.join("")).to.not.include(SECRET);
    expect(valueIn(text, "sotto_ready")).to.equal(1);
  });

  it("are answered while every node hangs, and then name the cause", async () => {
    const service = closedAfterTest(await openService({ SOTTO_RPC_URLS: first.url, SOTTO_RPC_TIMEOUT_MS: "4000" }));
    await eventually(async () => (await value(service, "sotto_ready")) === 1);
    first.mode = "hangs";
    // The first scrapes show the last result, until the requests have timed out.
    const text = await eventually(async () => {
      const found = await scrape(service);
      return valueIn(found, "sotto_ready") === 0 && found;
    });
    expect(valueIn(text, 'sotto_unready_cause{check="chain",code="NODE_UNREACHABLE"}')).to.equal(1);
    expect(valueIn(text, 'sotto_check_ok{check="store"}')).to.equal(1);
    expect(valueIn(text, 'sotto_operations{kind="payment",state="queued"}')).to.equal(0);
  });

  it("show no gauge of the leader once another replica leads", async () => {
    const service = closedAfterTest(await openService());
    await eventually(async () => (await value(service, "sotto_relayer_gas_today_wei")) !== undefined);
    const extensions = Object.assign({}, ...EXTENSIONS.map(({ tables }) => tables?.migrations ?? {}));
    const store = closedAfterTest(
      await openStore({ url: `sqlite:${join(service.folder, "store.sqlite")}`, extensions }),
    );
    await store.leases.acquire("relayer", "another", 600_000, () => true);
    await eventually(async () => (await value(service, "sotto_relayer_leader")) === 0);
    const text = await scrape(service);
    for (const gauge of ["gas_today_wei", "head_block", "queued", "broadcast", "queued_notes"])
      expect(valueIn(text, `sotto_relayer_${gauge}`), gauge).to.equal(undefined);
    expect(text).to.not.match(/^sotto_relayer_(?:balance_wei|account_open)\{/m);
    // Every replica reads these from the database.
    expect(valueIn(text, 'sotto_operations{kind="payment",state="queued"}')).to.equal(0);
    await leaseRunsOut(store);
    await eventually(async () => (await value(service, "sotto_relayer_gas_today_wei")) !== undefined);
    expect(await value(service, "sotto_relayer_leader")).to.equal(1);
  });

  it("have no more series after requests for any paths with any methods", async () => {
    const service = closedAfterTest(await openService());
    const request = async () => {
      await fetch(`${service.url}/${randomUUID()}`);
      await fetch(`${service.url}/settle/${randomUUID()}`);
      await fetch(`${service.url}/verify`, { method: `M${randomUUID().slice(0, 8)}` });
      await fetch(`${service.url}/verify`, { method: "DELETE", headers: { "user-agent": randomUUID() } });
    };
    const series = async () =>
      (await scrape(service)).split("\n").filter((line) => line.startsWith("sotto_http_")).length;
    await scrape(service);
    await request();
    const before = await series();
    for (let i = 0; i < 20; i += 1) await request();
    expect(await series()).to.equal(before);
  });
});
