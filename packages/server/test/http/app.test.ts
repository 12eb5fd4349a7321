// A server with three routes over real HTTP: the behaviour that all routes share.
import { connect } from "node:net";
import { Type } from "@fastify/type-provider-typebox";
import { expect } from "chai";
import { Registry } from "prom-client";
import { readSettings } from "../../src/config/read.ts";
import { SERVER_SETTINGS } from "../../src/config/server-settings.ts";
import { SERVER_ERRORS } from "../../src/error-definitions.ts";
import { type AppOptions, createApp } from "../../src/http/app.ts";
import { listen } from "../../src/http/listen.ts";
import { httpMetrics, metricsRoute, UNLIMITED } from "../../src/http/metrics.ts";
import type { App } from "../../src/http/types.ts";
import { createLog } from "../../src/ops/log.ts";

const lines: string[] = [];
let app: App;
let origin: string;

async function open(settings: Record<string, string> = {}): Promise<{ app: App; origin: string }> {
  const { values: config } = readSettings(SERVER_SETTINGS, {
    SOTTO_PORT: "0",
    SOTTO_RATE_LIMIT: "100000",
    // A paused machine is not overloaded.
    SOTTO_LATEST_LOOP_MS: "0",
    ...settings,
  });
  const registry = new Registry();
  const options: AppOptions = {
    config: config as AppOptions["config"],
    log: createLog("debug", { write: (line: string) => void lines.push(line) }),
    metrics: httpMetrics(registry),
    errors: SERVER_ERRORS,
    openapi: { openapi: { info: { title: "test", version: "1.0.0" } } },
    cors: { allow: ["x-sotto-test"] },
    routes(root) {
      metricsRoute(root, registry);
      root.get("/ok", UNLIMITED, async () => ({ ok: true }));
      root.get("/fails", async () => {
        throw new Error("a secret of the inside");
      });
      const schema = {
        body: Type.Object({ name: Type.String({ maxLength: 4 }) }),
        params: Type.Object({ id: Type.String() }),
      };
      root.post("/things/:id", { schema }, async ({ body }) => ({ name: body.name }));
    },
  };
  const made = await createApp(options);
  return { app: made, origin: await listen(made, { host: "127.0.0.1", port: 0 }) };
}

const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  fetch(`${origin}${path}`, { method: "POST", body, headers: { "content-type": "application/json", ...headers } });
const codeOf = async (response: Response) => ((await response.json()) as { code: string }).code;

describe("a server", () => {
  before(async () => ({ app, origin } = await open()));
  after(() => app.close());

  it("refuses a request with two Host headers", async () => {
    const { hostname, port } = new URL(origin);
    const statusOf = (...hosts: readonly string[]) =>
      new Promise<string>((resolve, reject) => {
        let text = "";
        const lines = ["GET /ok HTTP/1.1", ...hosts.map((host) => `Host: ${host}`), "connection: close", "", ""];
        const socket = connect(Number(port), hostname, () => socket.write(lines.join("\r\n")));
        socket.on("data", (data) => (text += String(data)));
        socket.once("error", reject).once("close", () => resolve(text));
      });
    for (const hosts of [
      [hostname, "other.example"],
      [hostname, hostname],
    ])
      expect(await statusOf(...hosts))
        .to.match(/^HTTP\/1\.1 400 /)
        .and.to.contain('"code":"INVALID_REQUEST"');
    expect(await statusOf(hostname), "the control").to.match(/^HTTP\/1\.1 200 /);
  });

  it("warns once about an ignored X-Forwarded-For", async () => {
    const warnings = () => lines.filter((line) => line.includes("FORWARDED_FOR_IGNORED"));
    for (const [trusted, expected] of [
      ["", 1],
      ["192.0.2.0/24", 1],
      ["127.0.0.1", 0],
    ] as const) {
      lines.length = 0;
      const server = await open(trusted === "" ? {} : { SOTTO_TRUST_PROXY: trusted });
      await fetch(`${server.origin}/ok`);
      expect(warnings(), `before, trusting ${trusted || "nobody"}`).to.have.length(0);
      for (const client of ["198.51.100.7", "198.51.100.8"])
        await fetch(`${server.origin}/ok`, { headers: { "x-forwarded-for": client } });
      expect(warnings(), `trusting ${trusted || "nobody"}`).to.have.length(expected);
      // The address may belong to a client.
      expect(warnings().join("")).to.not.include("198.51.100");
      await server.app.close();
    }
  });

  it("limits requests per /64, /56 and /48 of an IPv6 client, but never requests for monitoring", async () => {
    const strict = await open({ SOTTO_RATE_LIMIT: "1", SOTTO_TRUST_PROXY: "loopback" });
    try {
      const ask = async (address: string, path = "/nothing") =>
        (await fetch(`${strict.origin}${path}`, { headers: { "x-forwarded-for": address } })).status;
      const addresses = [
        "1:100::1",
        "1:100::2",
        "1:101::1",
        "1:102::1",
        "1:200::1",
        "1:201::1",
        "1:300::1",
        "2:100::1",
      ];
      const statuses: number[] = [];
      for (const address of addresses) statuses.push(await ask(`2001:db8:${address}`));
      // A request that exceeds the smallest network's limit counts for the larger networks too.
      expect(statuses).to.deep.equal([404, 429, 429, 429, 404, 404, 429, 404]);
      expect(await ask("2001:db8:1:100::1", "/ok")).to.equal(200);
    } finally {
      await strict.app.close();
    }
  });

  it("answers with its own request id, and forbids caching of errors", async () => {
    const answer = await post("/things/7", '{"name":"a"}', { "x-request-id": "chosen" });
    expect([answer.status, await answer.json()]).to.deep.equal([200, { name: "a" }]);
    expect(answer.headers.get("x-request-id")).to.match(/^[0-9a-f-]{36}$/);
    expect((await fetch(`${origin}/nothing`)).headers.get("cache-control")).to.equal("no-store");
  });

  const refused: [string, string, Record<string, string>, number, string][] = [
    ["a key twice", '{"name":"a","name":"b"}', {}, 400, "DUPLICATE_KEY"],
    ["no JSON", "{", {}, 400, "INVALID_JSON"],
    ["nothing", "", {}, 400, "INVALID_JSON"],
    ["a wrong type", '{"name":7}', {}, 400, "INVALID_REQUEST"],
    ["too long a text", '{"name":"abcde"}', {}, 400, "INVALID_REQUEST"],
    ["another media type", '{"name":"a"}', { "content-type": "text/plain" }, 415, "UNSUPPORTED_MEDIA_TYPE"],
    [
      "another charset",
      '{"name":"a"}',
      { "content-type": "application/json; charset=utf-16" },
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    ],
    ["a compressed body", '{"name":"a"}', { "content-encoding": "gzip" }, 415, "UNSUPPORTED_MEDIA_TYPE"],
    ["too large a body", `{"name":"${"a".repeat(70_000)}"}`, {}, 413, "BODY_TOO_LARGE"],
  ];
  for (const [what, body, headers, status, code] of refused)
    it(`rejects ${what}`, async () => {
      const answer = await post("/things/7", body, headers);
      expect([answer.status, await codeOf(answer)]).to.deep.equal([status, code]);
    });

  it("lists the methods of a path", async () => {
    const answer = await fetch(`${origin}/things/7`, { method: "PUT" });
    expect([answer.status, answer.headers.get("allow")]).to.deep.equal([405, "POST"]);
  });

  it("reveals nothing about internal errors, and logs their location", async () => {
    lines.length = 0;
    const answer = await fetch(`${origin}/fails`);
    expect(answer.status).to.equal(500);
    expect(await answer.text()).to.not.include("secret");
    expect(lines.join("")).to.include("app.test.ts").and.not.include("a secret of");
  });

  it("logs and measures route patterns, never paths", async () => {
    lines.length = 0;
    await post("/things/canary?q=canary", '{"name":"a"}');
    const metrics = await (await fetch(`${origin}/metrics`)).text();
    expect(`${lines.join("")}${metrics}`)
      .to.include("/things/:id")
      .and.not.include("canary");
  });

  it("answers malformed HTTP", async () => {
    const { hostname, port } = new URL(origin);
    const answer = await new Promise<string>((resolve) => {
      const socket = connect(Number(port), hostname, () => socket.write("hello\r\n\r\n"));
      let text = "";
      socket.on("data", (part) => {
        text += String(part);
      });
      socket.on("close", () => resolve(text));
    });
    expect(answer)
      .to.match(/^HTTP\/1\.1 400 /)
      .and.include('"code":"INVALID_REQUEST"');
  });

  it("closes idle connections, but not those that wait for a settlement", () => {
    expect(app.server.timeout).to.be.within(180_000, 600_000);
    expect(app.server.requestTimeout).to.be.within(1, 60_000);
    expect(app.server.keepAliveTimeout).to.be.within(1, 120_000);
  });

  it("allows configured CORS headers", async () => {
    const headers = { origin: "https://a.example", "access-control-request-method": "POST" };
    const answer = await fetch(`${origin}/things/7`, { method: "OPTIONS", headers });
    expect(answer.headers.get("access-control-allow-headers")).to.include("x-sotto-test").and.include("content-type");
  });

  it("allows every origin by default, and only the configured ones otherwise, never with credentials", async () => {
    const listed = await open({ SOTTO_CORS_ORIGINS: "https://a.example,http://localhost:4020" });
    const read = async (server: string, page: string) => {
      const { headers } = await fetch(`${server}/ok`, { headers: { origin: page } });
      expect(headers.has("access-control-allow-credentials")).to.equal(false);
      return headers;
    };
    try {
      expect((await read(origin, "https://b.example")).get("access-control-allow-origin")).to.equal("*");
      for (const page of ["https://a.example", "http://localhost:4020"]) {
        const headers = await read(listed.origin, page);
        expect([headers.get("access-control-allow-origin"), headers.get("vary")]).to.deep.equal([page, "Origin"]);
        expect(headers.get("access-control-expose-headers")).to.include("retry-after").and.include("x-request-id");
      }
      for (const page of ["https://b.example", "https://a.example.b.example", "null"]) {
        const headers = await read(listed.origin, page);
        expect(headers.get("access-control-allow-origin"), page).to.equal(null);
        expect(headers.get("vary"), page).to.equal("Origin");
      }
    } finally {
      await listed.app.close();
    }
  });

  it("limits requests per address, with Retry-After", async () => {
    const limited = await open({ SOTTO_RATE_LIMIT: "2" });
    try {
      const ask = () => fetch(`${limited.origin}/nothing`);
      expect([(await ask()).status, (await ask()).status]).to.deep.equal([404, 404]);
      const answer = await ask();
      expect([answer.status, await codeOf(answer)]).to.deep.equal([429, "RATE_LIMITED"]);
      expect(Number(answer.headers.get("retry-after"))).to.be.within(1, 60);
      expect((await fetch(`${limited.origin}/ok`)).status).to.equal(200);
    } finally {
      await limited.app.close();
    }
  });

  it("does not fail on a request whose connection is closed already", async () => {
    const other = await open();
    try {
      // Node tells no address of a closed socket. The response still arrives, so that the test can read it.
      other.app.server.on("connection", (socket) =>
        Object.defineProperty(socket, "remoteAddress", { value: undefined }),
      );
      const response = await fetch(`${other.origin}/fails`);
      expect([response.status, await codeOf(response)]).to.deep.equal([400, "INVALID_REQUEST"]);
    } finally {
      await other.app.close();
    }
  });

  it("reports a port in use", async () => {
    const other = await open();
    try {
      const { port } = new URL(origin);
      const again = await createAppAgain();
      const error = await listen(again, { host: "127.0.0.1", port: Number(port) }).catch((thrown: unknown) => thrown);
      expect((error as { code?: string }).code).to.equal("PORT_UNAVAILABLE");
      await again.close();
    } finally {
      await other.app.close();
    }
  });
});

async function createAppAgain(): Promise<App> {
  const { values } = readSettings(SERVER_SETTINGS, {});
  return createApp({
    config: values as AppOptions["config"],
    log: createLog("silent"),
    metrics: { observe: () => undefined },
    errors: SERVER_ERRORS,
    openapi: {},
    routes: () => undefined,
  });
}
