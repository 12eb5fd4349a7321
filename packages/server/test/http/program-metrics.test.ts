import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { createRegistry, type Readiness, readinessMetrics, serveMetrics } from "../../src/index.ts";

const MANIFEST = new URL("../../package.json", import.meta.url);

const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

/** The lines of the metrics whose names begin with `prefix`. */
const linesOf = async (registry: ReturnType<typeof createRegistry>, prefix: string) =>
  (await registry.metrics()).split("\n").filter((line) => line.startsWith(prefix));

describe("the metrics of a program", () => {
  it("name its package and version", async () => {
    const [line] = await linesOf(createRegistry(MANIFEST), "sotto_build_info{");
    expect(line).to.match(/^sotto_build_info\{package="@sotto\/server",version="\d+\.\d+\.\d+"\} 1$/);
  });

  it("show each readiness check, and the code of the first that fails", async () => {
    const registry = createRegistry(MANIFEST);
    let state: Readiness | Error = { ready: true, checks: { chain: { ok: true }, store: { ok: true } } };
    readinessMetrics(registry, async () => {
      if (state instanceof Error) throw state;
      return state;
    });
    const shown = async () => [
      ...(await linesOf(registry, "sotto_ready ")),
      ...(await linesOf(registry, "sotto_check_ok{")),
      ...(await linesOf(registry, "sotto_unready_cause{")),
    ];
    expect(await shown()).to.deep.equal([
      "sotto_ready 1",
      'sotto_check_ok{check="chain"} 1',
      'sotto_check_ok{check="store"} 1',
    ]);
    const checks = { chain: { ok: false, code: "NODE_UNREACHABLE" }, store: { ok: false, code: "STORE_UNAVAILABLE" } };
    state = { ready: false, cause: "chain", checks };
    expect(await shown()).to.deep.equal([
      "sotto_ready 0",
      'sotto_check_ok{check="chain"} 0',
      'sotto_check_ok{check="store"} 0',
      'sotto_unready_cause{check="chain",code="NODE_UNREACHABLE"} 1',
    ]);
    // An unknown state is not shown as the last known one, and the other metrics still are.
    state = new Error("unknown");
    expect(await shown()).to.deep.equal([]);
    expect(await linesOf(registry, "sotto_build_info{")).to.have.lengthOf(1);
  });

  it("have an address of their own, with no other route", async () => {
    const server = (await serveMetrics({ metricsHost: "127.0.0.1", metricsPort: 0 }, createRegistry(MANIFEST)))!;
    try {
      expect(server.url).to.match(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
      const found = await fetch(server.url);
      expect([found.status, found.headers.get("content-type")]).to.deep.equal([
        200,
        "text/plain; version=0.0.4; charset=utf-8",
      ]);
      expect(await found.text()).to.include("sotto_build_info{");
      expect((await fetch(`${server.url}?name=x`)).status).to.equal(200);
      expect((await fetch(server.url, { method: "HEAD" })).status).to.equal(200);
      const posted = await fetch(server.url, { method: "POST", body: "x" });
      expect([posted.status, posted.headers.get("allow")]).to.deep.equal([405, "GET, HEAD"]);
      for (const path of ["/", "/metrics/", "/readyz", "/zk/metrics"])
        expect((await fetch(new URL(path, server.url))).status, path).to.equal(404);
    } finally {
      await server.close();
    }
    expect(await rejection(fetch(server.url))).to.include({ message: "fetch failed" });
  });

  it("are answered with 500, not with silence, if one of them cannot be collected", async () => {
    const registry = createRegistry(MANIFEST);
    readinessMetrics(registry, async () => ({ ready: true, checks: {} }));
    const [ready] = registry.getMetricsAsArray().filter(({ name }) => name === "sotto_ready");
    Object.assign(registry.getSingleMetric(ready!.name)!, {
      collect: async () => {
        throw new Error("collecting failed");
      },
    });
    const server = (await serveMetrics({ metricsHost: "127.0.0.1", metricsPort: 0 }, registry))!;
    try {
      expect((await fetch(server.url)).status).to.equal(500);
    } finally {
      await server.close();
    }
  });

  it("have no address of their own without a port, and refuse one that is taken", async () => {
    const registry = createRegistry(MANIFEST);
    expect(await serveMetrics({ metricsHost: "127.0.0.1", metricsPort: undefined }, registry)).to.equal(undefined);
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port: metricsPort } = other.address() as AddressInfo;
    const refused = await rejection(serveMetrics({ metricsHost: "127.0.0.1", metricsPort }, registry));
    expect(refused).to.include({ code: "PORT_UNAVAILABLE" });
    other.close();
  });
});
