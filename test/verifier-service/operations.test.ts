import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { type Answer, call, post } from "@sotto/test-kit/http";
import { slow } from "@sotto/test-kit/slow";
import { forgeBundle, settleRequest } from "@sotto/test-world/bundles";
import { openService, openWorld, type TestService } from "@sotto/test-world/service";
import { expect } from "chai";

describe("the service's HTTP server", function () {
  slow(this, "a chain, a service and proofs");
  let service: TestService;
  let root: bigint;
  before(async () => {
    service = await openService();
    root = (await openWorld()).root;
  });
  after(() => service.close());
  const shows = ({ status, body }: Answer, expected: number, code: string) => {
    expect(body).to.have.all.keys("error", "message", "code");
    expect([status, body["code"]]).to.deep.equal([expected, code]);
  };

  it("answers unknown paths and other methods", async () => {
    shows(await call(`${service.url}/nothing`), 404, "NOT_FOUND");
    shows(await call(`${service.url}/verify/`), 404, "NOT_FOUND");
    shows(await call(`${service.origin}/verify`), 404, "NOT_FOUND");
    const wrong = await call(`${service.url}/verify`, { method: "DELETE" });
    shows(wrong, 405, "METHOD_NOT_ALLOWED");
    expect(wrong.headers.get("allow")).to.equal("POST");
    const read = await post(`${service.url}/circuits`, {});
    shows(read, 405, "METHOD_NOT_ALLOWED");
    expect(read.headers.get("allow")).to.equal("GET, HEAD");
  });

  it("accepts only JSON in UTF-8", async () => {
    const url = `${service.url}/verify`;
    const types = [
      "text/plain",
      "application/x-www-form-urlencoded",
      "application/json; charset=latin1",
      "application/jsonp",
    ];
    for (const type of types) shows(await post(url, "{}", { "content-type": type }), 415, "UNSUPPORTED_MEDIA_TYPE");
    shows(await call(url, { method: "POST", body: new Uint8Array([123, 125]) }), 415, "UNSUPPORTED_MEDIA_TYPE");
    shows(await post(url, "{}", { "content-encoding": "gzip" }), 415, "UNSUPPORTED_MEDIA_TYPE");
    shows(await post(url, "", {}), 400, "INVALID_JSON");
    shows(await post(url, "{"), 400, "INVALID_JSON");
    shows(await post(url, '{"proof":1,"proof":2}'), 400, "DUPLICATE_KEY");
    shows(await post(url, '{"__proto__":1}'), 400, "FORBIDDEN_KEY");
    shows(await post(url, "[".repeat(1000)), 400, "NESTED_TOO_DEEPLY");
    shows(await post(url, "{}", { "content-type": 'application/json; charset="UTF-8"' }), 400, "INVALID_REQUEST");
  });

  it("limits bodies, paths and headers", async () => {
    shows(await post(`${service.url}/verify`, JSON.stringify({ a: "x".repeat(1 << 20) })), 413, "BODY_TOO_LARGE");
    shows(await call(`${service.url}/settle/${"x".repeat(200)}`), 404, "NOT_FOUND");
    shows(await call(`${service.url}/settle/${"x".repeat(100)}`), 400, "INVALID_REQUEST");
    shows(await call(`${service.url}/settle/%zz`), 400, "INVALID_REQUEST");
    const raw = await exchange(service.origin, `GET /healthz HTTP/1.1\r\nhost: x\r\nx: ${"a".repeat(20_000)}\r\n\r\n`);
    expect(raw)
      .to.match(/^HTTP\/1\.1 431 /)
      .and.include('"code":"HEADERS_TOO_LARGE"');
    const nonsense = await exchange(service.origin, "nonsense\r\n\r\n");
    expect(nonsense)
      .to.match(/^HTTP\/1\.1 400 /)
      .and.include('"code":"INVALID_REQUEST"');
  });

  it("gives every response its own id and security headers", async () => {
    const ids = new Set<string | null>();
    for (const path of ["/healthz", "/nothing", "/zk/circuits"]) {
      const { headers } = await call(`${service.origin}${path}`, { headers: { "x-request-id": "canary" } });
      ids.add(headers.get("x-request-id"));
      expect(headers.get("x-content-type-options")).to.equal("nosniff");
      expect(headers.get("content-security-policy")).to.include("default-src 'none'");
      expect(headers.get("access-control-allow-origin")).to.equal("*");
    }
    expect(ids.size).to.equal(3);
    expect(ids.has("canary")).to.equal(false);
    expect(service.logged.join("")).to.not.include("canary");
  });

  it("logs route patterns, never paths or queries", async () => {
    await call(`${service.url}/settle/canary-id?canary=1`);
    await call(`${service.origin}/canary-path`);
    const log = service.logged.join("");
    expect(log).to.include('"route":"/zk/settle/:id"').and.not.include("canary");
  });

  it("answers CORS preflights", async () => {
    const response = await fetch(`${service.url}/verify`, {
      method: "OPTIONS",
      headers: { origin: "https://wallet.example", "access-control-request-method": "POST" },
    });
    expect(response.status).to.equal(204);
    expect(response.headers.get("access-control-allow-methods")).to.include("POST");
    const bare = await fetch(`${service.url}/verify`, { method: "OPTIONS" });
    expect([bare.status, await bare.text()]).to.deep.equal([204, ""]);
  });

  it("is healthy and ready, and exposes Prometheus metrics", async () => {
    for (const base of [service.origin, service.url]) {
      expect((await call(`${base}/healthz`)).body).to.deep.equal({ status: "ok" });
      const { status, body } = await call(`${base}/readyz`);
      const ok = { ok: true };
      const needs = { head: ok, fees: ok, signer: ok, relayer: ok, budget: ok, leader: ok };
      expect(body).to.deep.equal({ ready: true, checks: { chain: ok, store: ok, artifacts: ok, ...needs } });
      expect(status).to.equal(200);
    }
    const metrics = await (await fetch(`${service.origin}/metrics`)).text();
    for (const name of [
      "sotto_http_request_seconds_bucket",
      "sotto_relayer_leader",
      "sotto_nodejs_eventloop_lag_seconds",
    ])
      expect(metrics).to.include(name);
    expect((await fetch(`${service.url}/metrics`)).status).to.equal(404);
  });

  it("limits requests per address", async () => {
    const strict = closedAfterTest(
      await openService({
        SOTTO_RATE_LIMIT: "3",
        SOTTO_CORS_ORIGINS: "https://a.example",
        SOTTO_BASE_PATH: "/",
      }),
    );
    const answers: Answer[] = [];
    for (let i = 0; i < 4; i += 1) answers.push(await call(`${strict.url}/settle/x`));
    expect(answers.map(({ status }) => status)).to.deep.equal([404, 404, 404, 429]);
    shows(answers[3]!, 429, "RATE_LIMITED");
    const seconds = Number(answers[3]!.headers.get("retry-after"));
    expect(seconds).to.be.within(1, 60);
    expect(answers[3]!.body["message"]).to.equal(
      `rate limit exceeded: 3 requests a minute for one address; retry in ${seconds} s`,
    );
    expect((await call(`${strict.url}/healthz`)).status).to.equal(200);
  });

  it("answers requests in progress before it stops, and reports pending only if the request prefers it", async () => {
    const world = await openWorld();
    const slow = { SOTTO_SETTLE_WAIT_MS: "", SOTTO_CONFIRMATIONS: "60", SOTTO_BLOCK_TIME_MS: "1000" };
    const ending = await openService(slow);
    const bundle = forgeBundle(world, { root });
    const { body } = await post(`${ending.url}/verify`, bundle);
    const request = settleRequest(bundle, body["paymentToken"]);
    const held = post(`${ending.url}/settle`, request);
    const patient = post(`${ending.url}/settle`, request, { prefer: "respond-async, wait=200" });
    const waiting = async () =>
      (await (await fetch(`${ending.origin}/metrics`)).text()).includes("sotto_settle_held 2");
    while (!(await waiting())) await sleep(20);
    await ending.close();
    // This chain mines blocks only for transactions, so sixty confirmations cannot exist yet.
    shows(await held, 503, "SETTLEMENT_UNKNOWN");
    expect([(await held).headers.get("retry-after"), (await held).headers.get("connection")]).to.deep.equal([
      "5",
      "close",
    ]);
    expect([(await patient).status, (await patient).body["status"]]).to.deep.equal([202, "pending"]);
  });
});

/** Sends raw bytes and reads until the other side closes the connection. */
function exchange(origin: string, text: string): Promise<string> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(Number(port), hostname, () => socket.write(text));
    socket.on("data", (chunk) => {
      answer += chunk.toString();
    });
    socket.on("end", () => resolve(answer));
    socket.on("error", reject);
  });
}
