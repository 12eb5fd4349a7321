import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createLog } from "@sotto/server";
import { readConfig } from "@sotto/verifier-service";
import { expect } from "chai";
import { Registry } from "prom-client";
import { EXTENSIONS } from "../src/extensions.ts";
import { TraceLimits } from "../src/traces/limits.ts";
import { openTraces } from "../src/traces/otlp.ts";

const BASE = {
  SOTTO_CHAIN_ID: "31337",
  SOTTO_POOL: `0x${"5a".repeat(20)}`,
  SOTTO_RELAYER_KEY: `0x${"01".repeat(32)}`,
};
const URL_OF_COLLECTOR = "http://127.0.0.1:4318/v1/traces";

describe("the settings of traces", () => {
  const read = (changes: Record<string, string>) =>
    readConfig({ ...BASE, ...changes }, EXTENSIONS).extensions.find(({ extension }) => extension.name === "traces")!
      .settings as Record<string, unknown>;

  it("are a URL, headers and a limit", () => {
    const { tracesUrl, tracesHeaders, tracesPerMinute } = read({
      SOTTO_TRACES_URL: URL_OF_COLLECTOR,
      SOTTO_TRACES_HEADERS: "Authorization=Basic a=b, x-scope=c",
    });
    expect([tracesUrl, tracesPerMinute]).to.deep.equal([URL_OF_COLLECTOR, 600]);
    expect(tracesHeaders).to.deep.equal({ authorization: "Basic a=b", "x-scope": "c" });
    expect(read({})["tracesUrl"]).to.equal(undefined);
  });

  it("are refused without showing a secret", () => {
    for (const changes of [
      { SOTTO_TRACES_URL: "ftp://canary" },
      { SOTTO_TRACES_URL: URL_OF_COLLECTOR, SOTTO_TRACES_HEADERS: "canary" },
      { SOTTO_TRACES_URL: URL_OF_COLLECTOR, SOTTO_TRACES_HEADERS: "a=canary\r\nx: y" },
      { SOTTO_TRACES_URL: URL_OF_COLLECTOR, SOTTO_TRACES_HEADERS: `a=${"canary".repeat(2_000)}` },
      { SOTTO_TRACES_URL: URL_OF_COLLECTOR, SOTTO_TRACES_PER_MINUTE: "0" },
      { SOTTO_TRACES_HEADERS: "a=canary" },
    ])
      expect(() => read(changes))
        .to.throw(/^SOTTO_TRACES_[A-Z_]+ (?!.*canary)/)
        .with.property("code", "INVALID_CONFIG");
  });
});

describe("the limits of traces", () => {
  it("count accepted payments and other requests apart, each minute anew", () => {
    let now = 0;
    const limits = new TraceLimits(2, () => now);
    const take = (kind: "accepted" | "other") => [1, 2, 3].map(() => limits.take(kind));
    expect([take("other"), take("accepted")]).to.deep.equal([
      [true, true, false],
      [true, true, false],
    ]);
    now = 60_000;
    expect(limits.take("other")).to.equal(true);
  });
});

describe("the end of the service", () => {
  let server: Server;
  let received: number;
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  /**
   * Records one step for a collector, and closes.
   * @param respond answers the collector's request
   * @returns whether closing ended within `ms`, and the counts of steps
   */
  async function close(ms: number, respond: (response: ServerResponse) => void) {
    received = 0;
    server = createServer((request, response) => {
      received += 1;
      request.resume();
      respond(response);
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`;
    const metrics = new Registry();
    const traces = openTraces({ url, headers: {}, perMinute: 1, log: createLog("silent"), metrics, clock: Date.now });
    traces.tracing!.begin("verify", { isRequest: true }).end({});
    // Timers of one process fire in order, however slow the machine is.
    const closed = Promise.resolve(traces.close!()).then(() => true);
    const late = new Promise<boolean>((resolve) => void setTimeout(resolve, ms, false).unref());
    const inTime = await Promise.race([closed, late]);
    await closed;
    return { inTime, counts: await metrics.getSingleMetricAsString("sotto_traces_steps_total") };
  }

  it("waits at most 2 s for a collector that never answers", async () => {
    const { inTime, counts } = await close(2_100, () => {});
    expect([inTime, received]).to.deep.equal([true, 1]);
    expect(counts).to.include('result="sent"} 0').and.include('result="failed"} 0');
  });

  it("waits for a collector that answers slowly", async () => {
    const { counts } = await close(2_100, (response) => void setTimeout(() => response.end("{}"), 200));
    expect(received).to.equal(1);
    expect(counts).to.include('result="sent"} 1').and.include('result="failed"} 0');
  });
});

describe("OpenTelemetry", function () {
  // It starts processes.
  this.timeout(60_000);
  const loaded = (url: string | undefined): boolean => {
    const program = `
      import { registerHooks } from "node:module";
      let found = false;
      registerHooks({ resolve(specifier, context, next) {
        if (specifier === "@opentelemetry/sdk-trace") found = true;
        return next(specifier, context);
      } });
      const { EXTENSIONS } = await import(${JSON.stringify(join(import.meta.dirname, "..", "src", "extensions.ts"))});
      const { Registry } = await import("prom-client");
      const extension = EXTENSIONS.find(({ name }) => name === "traces");
      const settings = { tracesUrl: ${JSON.stringify(url)} };
      const { close } = await extension.open({ settings, metrics: new Registry(), clock: Date.now });
      await close?.();
      console.log(found);
    `;
    const run = spawnSync(process.execPath, ["--input-type=module-typescript", "-e", program], {
      cwd: import.meta.dirname,
      encoding: "utf8",
    });
    return JSON.parse(run.stdout);
  };

  it("is loaded only if traces are sent, apart from the interfaces that prom-client needs", () => {
    expect(loaded(undefined)).to.equal(false);
    expect(loaded(URL_OF_COLLECTOR)).to.equal(true);
  });
});
