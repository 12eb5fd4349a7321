// Traces of payments, received by a collector of the test as OTLP over HTTP.
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { eventually } from "@sotto/test-kit/eventually";
import { call, post } from "@sotto/test-kit/http";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { forgeBundle, settleRequest } from "@sotto/test-world/bundles";
import { environment, openService, openWorld, type TestService, type World } from "@sotto/test-world/service";
import { startProcess, stopProcess } from "@sotto/test-world/service-process";
import { expect } from "chai";

interface Received {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code?: number; readonly message?: string };
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}

/** A collector that decodes OTLP's JSON. */
async function startCollector() {
  const spans: Received[] = [];
  const requests: { url: string; headers: Readonly<Record<string, unknown>>; body: string }[] = [];
  const state = { hangs: false };
  const server = createServer(async (request, response) => {
    const body = await text(request);
    requests.push({ url: request.url ?? "", headers: request.headers, body });
    if (state.hangs) return;
    const { resourceSpans } = JSON.parse(body) as {
      resourceSpans: { scopeSpans: { spans: Received[] }[] }[];
    };
    spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans: some }) => some)));
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const ofTrace = (traceId: string) => spans.filter((span) => span.traceId === traceId);
  return {
    url: `http://127.0.0.1:${port}/v1/traces`,
    ...{ spans, requests, state, ofTrace },
    /** The steps of a trace, once it has one of each name. Steps that end together may be sent seconds apart. */
    until: (traceId: string, ...names: readonly string[]) =>
      eventually(async () => {
        const found = ofTrace(traceId);
        return names.every((name) => found.some((span) => span.name === name)) && found;
      }),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const shown = ({ attributes }: Received): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
const newTrace = () => randomBytes(16).toString("hex");
const parentOf = (traceId: string, flags = "01") => `00-${traceId}-${"b7".repeat(8)}-${flags}`;

describe("the traces of payments", function () {
  slow(this, "a chain, services and proofs");
  let world: World;
  let collector: Awaited<ReturnType<typeof startCollector>>;
  let service: TestService;
  before(async () => {
    world = await openWorld();
    collector = await startCollector();
    service = await openService({
      SOTTO_TRACES_URL: collector.url,
      SOTTO_TRACES_HEADERS: "Authorization=Bearer canary-word",
      SOTTO_TRACES_PER_MINUTE: "40",
    });
  });
  after(async () => {
    await service.close();
    collector.close();
  });

  const pay = async (headers: Record<string, string>, later: Record<string, string> = headers, by = service.url) => {
    const bundle = forgeBundle(world, { root: world.root });
    const { body } = await post(`${by}/verify`, bundle, headers);
    const token = String(body["paymentToken"]);
    return { bundle, token, settle: () => post(`${by}/settle`, settleRequest(bundle, token), later) };
  };

  it("lead from the client's header through verify, settle and the queue to the confirmed transaction", async () => {
    const traceId = newTrace();
    const { bundle, token, settle } = await pay({ traceparent: parentOf(traceId) });
    const { body } = await settle();
    const spans = await collector.until(traceId, "settle", "confirmed");
    const named = (name: string) => spans.find((span) => span.name === name)!;
    expect(spans.map(({ name }) => name)).to.include.members(["verify", "settle", "queued", "confirmed"]);
    for (const name of ["verify", "settle"])
      expect([named(name).parentSpanId, named(name).kind], name).to.deep.equal(["b7".repeat(8), 2]);
    for (const name of ["queued", "confirmed"]) expect(named(name).parentSpanId, name).to.equal(named("settle").spanId);
    expect(shown(named("verify"))).to.deep.equal({ "sotto.result": "valid" });
    expect(shown(named("queued"))).to.deep.equal({
      "sotto.kind": "payment",
      "sotto.transaction": body["txSignature"],
    });
    expect(shown(named("confirmed"))).to.include({
      "sotto.state": "settled",
      "sotto.transaction": body["txSignature"],
      "sotto.block": body["blockNumber"],
    });
    for (const { startTimeUnixNano, endTimeUnixNano } of spans)
      expect(BigInt(endTimeUnixNano) >= BigInt(startTimeUnixNano)).to.equal(true);
    const { headers } = collector.requests[0]!;
    expect(headers["authorization"]).to.equal("Bearer canary-word");
    // Nothing that identifies a payer, a recipient, a note or a resource.
    const sent = collector.requests.map((request) => request.body).join("");
    const private_ = [
      ...Object.values(bundle).flat(3).map(String),
      ...token.split("."),
      String(body["id"]),
      service.relayer,
      "127.0.0.1",
      "canary-word",
    ];
    for (const value of private_.filter((each) => each.length > 8)) expect(sent).to.not.include(value);
    expect(service.logged.join("")).to.not.include("canary-word");
  });

  it("join settle to verify if only verify has a header, and connect no requests of a client without one", async () => {
    const traceId = newTrace();
    await (await pay({ traceparent: parentOf(traceId) }, {})).settle();
    const spans = await collector.until(traceId, "settle", "confirmed");
    const verify = spans.find(({ name }) => name === "verify");
    expect(spans.find(({ name }) => name === "settle")?.parentSpanId).to.equal(verify?.spanId);
    const known = new Set(collector.spans);
    await (await pay({})).settle();
    await (await pay({})).settle();
    const mine = await eventually(async () => {
      const found = collector.spans.filter((span) => !known.has(span));
      const all = ["settle", "confirmed"].every((wanted) => found.filter(({ name }) => name === wanted).length === 2);
      return all && found;
    });
    const ids = new Set(mine.map((span) => span.traceId));
    expect(ids.size).to.equal(2);
    for (const id of ids)
      expect(collector.ofTrace(id).map(({ name }) => name)).to.include.members(["verify", "settle", "confirmed"]);
  });

  it("show refusals and the errors of x402's requests by code", async () => {
    const traceId = newTrace();
    const headers = { traceparent: parentOf(traceId) };
    await post(`${service.url}/verify`, forgeBundle(world, { root: 5n }), headers);
    await post(`${service.url}/verify`, { x402Version: 2 }, headers);
    await eventually(async () => collector.ofTrace(traceId).length === 2);
    const [refused, failed] = collector.ofTrace(traceId);
    expect(shown(refused!)).to.deep.equal({ "sotto.result": "UNKNOWN_ROOT" });
    expect(failed!.status).to.deep.include({ code: 2, message: "X402_PAYLOAD_INVALID" });
  });

  it("ignore a traceparent that is malformed, too long or not sampled", async () => {
    const traceId = newTrace();
    const wrong = [
      `00-${traceId}-${"b7".repeat(8)}`,
      `00-${traceId.toUpperCase()}-${"b7".repeat(8)}-01`,
      `ff-${traceId}-${"b7".repeat(8)}-01`,
      `00-${"0".repeat(32)}-${"b7".repeat(8)}-01`,
      `00-${traceId}-${"0".repeat(16)}-01`,
      `${parentOf(traceId)}-${"x".repeat(8_000)}`,
      `${parentOf(traceId)}, ${parentOf(traceId)}`,
      "canary",
    ];
    for (const traceparent of wrong) {
      const { status } = await post(`${service.url}/verify`, forgeBundle(world, { root: 5n }), { traceparent });
      expect(status, traceparent.slice(0, 60)).to.equal(200);
    }
    await post(`${service.url}/verify`, forgeBundle(world, { root: 5n }), { traceparent: parentOf(traceId, "00") });
    // A later step that arrives shows that none of the others will.
    const last = newTrace();
    await post(`${service.url}/verify`, forgeBundle(world, { root: 5n }), { traceparent: parentOf(last) });
    await collector.until(last, "verify");
    expect(collector.ofTrace(traceId)).to.deep.equal([]);
    expect(collector.ofTrace("0".repeat(32))).to.deep.equal([]);
    expect(collector.requests.map(({ body }) => body).join("")).to.not.include("canary");
  });

  it("of a flood are limited, and leave room for those of accepted payments", async () => {
    const flood = newTrace();
    const refused = forgeBundle(world, { root: 5n });
    for (let i = 0; i < 100; i++) await post(`${service.url}/verify`, refused, { traceparent: parentOf(flood) });
    const traceId = newTrace();
    await (await pay({ traceparent: parentOf(traceId) })).settle();
    await collector.until(traceId, "confirmed");
    // A minute may have begun meanwhile.
    expect(collector.ofTrace(flood).length).to.be.at.most(80);
    const metrics = await (await fetch(service.metricsUrl)).text();
    expect(Number(/sotto_traces_requests_total\{result="limited"\} (\d+)/.exec(metrics)?.[1])).to.be.at.least(20);
  });

  it("do not delay payments or the end of the service if the collector hangs", async () => {
    const slowCollector = closedAfterTest(await startCollector());
    slowCollector.state.hangs = true;
    const other = await openService({ SOTTO_TRACES_URL: slowCollector.url });
    const { body } = await (await pay({}, {}, other.url)).settle();
    expect(body["status"]).to.equal("success");
    await eventually(async () => slowCollector.requests.length > 0);
    await other.close();
  });

  it("continue after the service was killed while a payment waited", async () => {
    const settings = {
      ...environment(world, temporaryFolder("traces")),
      SOTTO_TRACES_URL: collector.url,
    };
    const first = await startProcess(settings);
    const traceId = newTrace();
    await world.provider.send("evm_setAutomine", [false]);
    let second: Awaited<ReturnType<typeof startProcess>> | undefined;
    try {
      const { settle, token } = await pay({ traceparent: parentOf(traceId) }, undefined, first.url);
      void settle().catch(() => undefined);
      const id = JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString())["jti"];
      await eventually(async () => (await call(`${first.url}/settle/${id}`)).body["txSignature"]);
      await collector.until(traceId, "queued");
      first.child.kill("SIGKILL");
      await first.ended;
      second = await startProcess(settings);
      await world.provider.send("evm_setAutomine", [true]);
      await world.provider.send("hardhat_mine", []);
      const spans = await collector.until(traceId, "confirmed");
      const queued = spans.find(({ name }) => name === "queued")!;
      const confirmed = spans.find(({ name }) => name === "confirmed")!;
      expect(confirmed.parentSpanId).to.equal(queued.parentSpanId);
      expect(shown(confirmed)["sotto.state"]).to.equal("settled");
    } finally {
      await world.provider.send("evm_setAutomine", [true]);
      await world.provider.send("hardhat_mine", []);
      first.child.kill("SIGKILL");
      if (second !== undefined) await stopProcess(second);
    }
  });
});
