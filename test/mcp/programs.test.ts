// The program sotto-mcp as MCP clients start it: over stdio with real proofs, including a kill and a restart, and over
// HTTP.
import { spawn } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { createServers, type RunningHttp, SharedWallet, serveHttp } from "@sotto/mcp";
import { Origins } from "@sotto/origins/wallet";
import { clearOfMidnight } from "@sotto/test-kit/clock";
import { BASE_ENVIRONMENT } from "@sotto/test-kit/environment";
import { eventually } from "@sotto/test-kit/eventually";
import { FaultyNode } from "@sotto/test-kit/faulty-node";
import { anyRejection, rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { SmallServer } from "@sotto/test-world/small-server";
import { accountOf, openWallet, type World } from "@sotto/test-world/wallets";
import { expect } from "chai";
import { approves, call, clientWith } from "./support/agent.ts";
import { BIN, TestHome } from "./support/home.ts";
import { openMcpWorld } from "./support/world.ts";

const PRICE = 10_000n;

describe("sotto-mcp", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let server: SmallServer;
  let home: TestHome;
  const sotto = (...args: string[]) => home.sotto(...args);
  const openHome = () => home.open();
  const start = (...args: string[]) => home.start(...args);

  before(async () => {
    await clearOfMidnight();
    world = await openMcpWorld();
    server = await SmallServer.open(world, await openWallet(world), { price: PRICE });
    home = await TestHome.create(world, [300_000n, 300_000n]);
  });
  after(async () => {
    await server?.close();
  });

  it("pays over stdio with a real proof; if killed before the answer, pays once and answers after a restart", async () => {
    const url = `${server.url}/report`;
    const first = await start();
    server.options = {
      price: PRICE,
      misbehave: (_, __, proof) => {
        if (proof !== undefined) process.kill(first.transport.pid!, "SIGKILL");
        return proof !== undefined;
      },
    };
    await anyRejection(call(first.client, "fetch_paid", { url }));
    expect(await server.received()).to.equal(PRICE);
    server.options = { price: PRICE };

    const second = await start();
    const spent = await second.client.readResource({ uri: "sotto://policy" });
    expect(JSON.stringify(spent.contents)).to.include("1.99");
    const { report, text } = await call(second.client, "fetch_paid", { url });
    expect(text).to.include("sold /report");
    expect(report.paid?.amount).to.equal(String(PRICE));
    expect(report.limits.left_today?.amount).to.equal("1990000");
    expect(await server.received()).to.equal(PRICE);
    const balance = (await second.client.callTool({ name: "balance" })).structuredContent as Record<
      string,
      { amount: string }
    >;
    expect([balance["total"]?.amount, balance["held"]?.amount]).to.deep.equal([String(600_000n - PRICE), "0"]);
    const { words } = home;
    const said = first.logged() + second.logged() + text;
    for (const secret of [words, words.split(" ").slice(0, 4).join(" ")]) expect(said.includes(secret)).to.equal(false);
    expect(second.logged()).to.equal("");
    await second.client.close();
  });

  it("enforces the limits that the wallet's owner set, and asks the person over stdio", async () => {
    const limited = await start();
    await sotto("limits", "--max", "0.009");
    const url = `${server.url}/limited`;
    const refused = await call(limited.client, "fetch_paid", { url });
    expect(refused.report.error).to.deep.equal({
      code: "REQUEST_LIMIT_EXCEEDED",
      message:
        "the price is 0.01 USDC, but the limit per request is 0.009 USDC; only the wallet's owner can raise the limit, with " +
        "`sotto limits --max AMOUNT`",
    });
    await limited.client.close();
    await sotto("limits", "--none", "--approve-above", "0");
  });

  it("pays again with the keys of the first payment after the wallet was closed", async () => {
    const { client } = await start();
    expect((await call(client, "fetch_paid", { url: `${server.url}/first` })).text).to.include("sold /first");
    const other = await eventually(() => openHome().catch(() => undefined));
    await other.close();
    const cache = join(home.home.folder, "artifacts");
    rmSync(cache, { recursive: true });
    expect((await call(client, "fetch_paid", { url: `${server.url}/second` })).text).to.include("sold /second");
    expect(existsSync(cache), "the program downloaded them again").to.equal(false);
    await client.close();
  });

  describe("with a wallet that follows a set", () => {
    const asked: string[] = [];
    const curator = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.writeHead(404).end();
    });
    before(async () => {
      await new Promise<void>((resolve) => curator.listen(0, "127.0.0.1", resolve));
      const { port } = curator.address() as AddressInfo;
      const wallet = await openHome();
      const following = await Origins.open(wallet);
      const set = { curator: accountOf(9).address, name: "clean", url: `http://127.0.0.1:${port}` };
      await following.follow(set);
      following.close();
      await wallet.close();
    });
    after(() => curator.close());

    it("asks for new heads of the set when a tool may spend, and not before", async () => {
      const { client } = await start();
      await call(client, "balance");
      expect(asked).to.deep.equal([]);
      expect((await call(client, "fetch_paid", { url: `${server.url}/followed` })).text).to.include("sold /followed");
      await client.close();
      expect(asked).to.include("GET /head.json");
    });
  });

  describe("with a node that does not answer", () => {
    let node: FaultyNode;
    before(async () => {
      node = await FaultyNode.start(world.node.url);
      await sotto("init", "--update", "--rpc", node.url);
    });
    after(async () => {
      await sotto("init", "--update", "--rpc", world.node.url);
      await node.stop();
    });
    beforeEach(() => {
      node.mode = "honest";
    });

    it("ends each call at its time limit, whether the wallet is open or not; the same call then pays once", async () => {
      const { client } = await start();
      const url = `${server.url}/slow`;
      expect((await call(client, "fetch_paid", { url, quote_only: true })).report.outcome).to.equal("quoted");
      const paid = await server.received();
      for (let times = 0; times < 2; times += 1) {
        node.mode = "hangs";
        const late = await call(client, "fetch_paid", { url, timeout_ms: 1_000 });
        expect(late.report.error?.code, late.text).to.equal("CALL_TIMED_OUT");
        expect(late.report.paid).to.equal(null);
        node.mode = "honest";
        // Idle wallets are closed, so the second round opens it at the node that hangs.
        await (await eventually(() => openHome().catch(() => undefined))).close();
      }
      const { report, text } = await call(client, "fetch_paid", { url });
      expect(report.outcome, text).to.equal("paid");
      expect(await server.received()).to.equal(paid + PRICE);
      await client.close();
    });

    it("ends with SIGTERM, at the start and during a call", async () => {
      const { client, transport } = await start();
      node.mode = "hangs";
      const before = node.requests;
      const ended = new Promise<void>((resolve) => {
        client.onclose = resolve;
      });
      const asked = anyRejection(call(client, "fetch_paid", { url: `${server.url}/ended` }));
      await eventually(async () => node.requests > before);
      process.kill(transport.pid!, "SIGTERM");
      await Promise.all([ended, asked]);

      const { requests } = node;
      const child = spawn(process.execPath, [BIN, "--home", home.home.folder], { env: { ...BASE_ENVIRONMENT } });
      const exit = new Promise<number | null>((resolve) => child.once("exit", resolve));
      await eventually(async () => node.requests > requests);
      child.kill("SIGTERM");
      expect(await exit).to.equal(0);
    });
  });

  it("closes the wallet between calls, so that other programs can use it", async () => {
    const shared = new SharedWallet(openHome, 1);
    const { signal } = new AbortController();
    expect(await shared.use(async ({ shieldedAddress }) => shieldedAddress, signal)).to.match(/^0x/);
    const other = await eventually(() => openHome().catch(() => undefined));
    await other.close();
    const uses = [1, 2, 3].map(() => shared.use(async (wallet) => wallet, signal));
    const [one, two, three] = await Promise.all(uses);
    expect([two, three]).to.deep.equal([one, one]);
    await shared.close();
  });

  describe("over HTTP", () => {
    const TOKEN = "0123456789abcdef-token";
    let running: RunningHttp;
    let shared: SharedWallet;
    before(async () => {
      shared = new SharedWallet(openHome, 60_000);
      const servers = createServers({
        wallet: shared.use,
        token: { decimals: 6, symbol: "USDC" },
        chainId: BigInt(world.chainId),
        service: world.serviceUrl,
        limits: { approveAbove: 0n },
      });
      running = await serveHttp(servers, {
        port: 0,
        token: TOKEN,
        allowedOrigins: ["https://app.example"],
        maxSessions: 2,
      });
    });
    after(async () => {
      await running?.close();
      await shared?.close();
    });
    const connect = async (headers: Record<string, string> = { authorization: `Bearer ${TOKEN}` }): Promise<Client> => {
      const client = clientWith(approves);
      const transport = new StreamableHTTPClientTransport(new URL(running.url), { requestInit: { headers } });
      // The SDK's own types are inconsistent for optional members under exactOptionalPropertyTypes.
      await client.connect(transport as Parameters<Client["connect"]>[0]);
      return client;
    };
    const initialize = {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
    };
    /** The response status of a request with these headers. Unlike fetch, it can send any `Host`. */
    const statusOf = (
      headers: Record<string, string>,
      body = JSON.stringify(initialize),
      path = "/mcp",
      { hostname, port }: Pick<URL, "hostname" | "port"> = new URL(running.url),
    ) =>
      new Promise<number>((resolve, reject) => {
        const sent = { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers };
        const asked = request({ hostname, port, path, method: "POST", headers: sent }, (response) => {
          response.destroy();
          resolve(response.statusCode ?? 0);
        });
        asked.on("error", reject);
        asked.end(body);
      });

    it("pays, and asks the person in the same session", async () => {
      const client = await connect();
      const { report } = await call(client, "fetch_paid", { url: `${server.url}/http` });
      expect(report.paid?.amount).to.equal(String(PRICE));
      await (client.transport as StreamableHTTPClientTransport).terminateSession();
      await client.close();
    });

    it("rejects other hosts, web pages, wrong tokens, other paths, and oversized or non-JSON bodies", async () => {
      const good = { authorization: `Bearer ${TOKEN}` };
      const { port } = new URL(running.url);
      expect(await statusOf({ ...good, host: `evil.example:${port}` })).to.equal(403);
      expect(await statusOf({ ...good, origin: "https://evil.example" })).to.equal(403);
      for (const authorization of ["", "Bearer", `Bearer ${TOKEN}x`, `bearer ${TOKEN}`, TOKEN])
        expect(await statusOf({ authorization }), authorization).to.equal(401);
      expect(await statusOf(good, "{}", "/")).to.equal(404);
      expect(await statusOf(good, "x")).to.equal(400);
      expect(await statusOf(good, "[]")).to.equal(400);
      expect(await statusOf({ ...good, "mcp-session-id": "unknown" })).to.equal(404);
      expect(await statusOf(good, `"${"x".repeat(1024 * 1024)}"`)).to.equal(413);
    });

    it("accepts its own origin, and no other spelling, port, scheme or host", async () => {
      const { host, port } = new URL(running.url);
      const from = (origin: string, to = host) =>
        statusOf({ origin, host: to, authorization: `Bearer ${TOKEN}` }, "[]");
      // Requests that pass get as far as the body.
      for (const name of [host, `localhost:${port}`, `[::1]:${port}`])
        expect(await from(`http://${name}`, name), name).to.equal(400);
      for (const origin of [
        "null",
        "",
        `http://127.0.0.1:${Number(port) + 1}`,
        "http://127.0.0.1",
        `https://127.0.0.1:${port}`,
        `http://127.0.0.1:${port}/`,
        `http://127.0.0.1:${port}.evil.example`,
        `http://127.0.0.1.evil.example:${port}`,
        `http://user@127.0.0.1:${port}`,
        `http://127.1:${port}`,
        `HTTP://127.0.0.1:${port}`,
        `http://localhost:${port}`,
        `http://localhost.evil.example:${port}`,
        `http://0.0.0.0:${port}`,
        `http://127.0.0.1:${port}, https://evil.example`,
      ])
        expect(await from(origin), origin).to.equal(403);
      // DNS rebinding: the page's own name leads to this machine, so that Host and Origin agree.
      for (const name of [
        `evil.example:${port}`,
        `localhost.:${port}`,
        `127.0.0.1.evil.example:${port}`,
        `[::2]:${port}`,
      ])
        expect(await from(`http://${name}`, name), name).to.equal(403);
      expect(await from(`http://127.0.0.1:${port}`, `evil.example:${port}`)).to.equal(403);
    });

    it("on another address accepts the origin of that address only", async () => {
      const servers = () => {
        throw new Error("no session was asked for");
      };
      const names = { allowedHosts: ["127.0.0.2", "127.0.0.1", "tools.example"] };
      const other = await serveHttp(servers, { ...names, host: "127.0.0.2", port: 0, token: TOKEN });
      const { host, hostname, port } = new URL(other.url);
      const from = (origin: string, to: string) =>
        statusOf({ origin, host: to, authorization: `Bearer ${TOKEN}` }, "[]", "/mcp", { hostname, port });
      expect(await from(`http://${host}`, host)).to.equal(400);
      for (const name of [`127.0.0.1:${port}`, `tools.example:${port}`])
        expect(await from(`http://${name}`, name), name).to.equal(403);
      await other.close();
    });

    it("limits the number of sessions, and frees those that end", async () => {
      const clients = [await connect(), await connect()];
      expect(await statusOf({ authorization: `Bearer ${TOKEN}` })).to.equal(503);
      for (const client of clients) {
        await (client.transport as StreamableHTTPClientTransport).terminateSession();
        await client.close();
      }
      const next = await connect({ authorization: `Bearer ${TOKEN}`, origin: "https://app.example" });
      await (next.transport as StreamableHTTPClientTransport).terminateSession();
      await next.close();
    });

    it("makes room for a new session by closing the one that has been idle longest", async () => {
      const authorization = `Bearer ${TOKEN}`;
      // Like a killed client, neither request ends its session.
      for (let i = 0; i < 2; i += 1) expect(await statusOf({ authorization })).to.equal(200);
      const clients = [await connect(), await connect()];
      for (const client of clients) await (client.transport as StreamableHTTPClientTransport).terminateSession();
      for (const client of clients) await client.close();
    });

    it("accepts calls from pages of an allowed origin, after a preflight without a token", async () => {
      const [origin, authorization] = ["https://app.example", `Bearer ${TOKEN}`];
      const headers = { origin, "access-control-request-method": "POST" };
      const preflight = await fetch(running.url, { method: "OPTIONS", headers });
      expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).to.deep.equal([204, origin]);
      expect(preflight.headers.get("access-control-allow-headers")).to.include("authorization");
      const foreign = await fetch(running.url, {
        method: "OPTIONS",
        headers: { ...headers, origin: "https://x.example" },
      });
      expect([foreign.status, foreign.headers.get("access-control-allow-origin")]).to.deep.equal([403, null]);
      expect((await fetch(running.url, { method: "OPTIONS" })).status).to.equal(401);
      const accept = "application/json, text/event-stream";
      const opened = await fetch(running.url, {
        method: "POST",
        headers: { origin, authorization, accept, "content-type": "application/json" },
        body: JSON.stringify(initialize),
      });
      expect([opened.status, opened.headers.get("access-control-allow-origin")]).to.deep.equal([200, origin]);
      await opened.body?.cancel();
      const session = opened.headers.get("mcp-session-id") ?? "";
      const ended = await fetch(running.url, {
        method: "DELETE",
        headers: { authorization, "mcp-session-id": session },
      });
      expect(ended.status).to.equal(200);
    });

    it("starts only with a token that is long enough", async () => {
      const servers = () => {
        throw new Error("no session was asked for");
      };
      for (const token of ["", "short", "with a space, and long"])
        expect((await rejection(serveHttp(servers, { port: 0, token }))).code).to.equal("MCP_OPTION_INVALID");
    });
  });
});
