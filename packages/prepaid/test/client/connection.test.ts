import { createServer, type Server } from "node:http";
import { type AddressInfo, createServer as createRaw, type Socket } from "node:net";
import { eventually } from "@sotto/test-kit/eventually";
import { anyRejection, expectCode, rejection } from "@sotto/test-kit/rejection";
import { separateFetch } from "@sotto/wallet";
import { expect } from "chai";
import { ask } from "../../src/client/ask.ts";
import { parsePrepaidOptions } from "../../src/client/options.ts";

describe("a connection for prepaid packs", () => {
  let server: Server;
  let url: string;
  /** The client's port of each request, and its connection header. */
  let ports: (number | undefined)[];
  /** Connections of raw servers, closed after each test, even if it fails. */
  const open = new Set<Socket>();
  before(async () => {
    server = createServer(async (request, response) => {
      ports.push(request.socket.remotePort);
      const body: Buffer[] = [];
      for await (const chunk of request) body.push(chunk as Buffer);
      if (request.url === "/hangs") return;
      if (request.url === "/empty") return response.writeHead(204).end();
      if (request.url === "/moved") return response.writeHead(302, { location: "/" }).end();
      response.setHeader(
        "x-seen",
        JSON.stringify([request.method, request.headers["x-a"], Buffer.concat(body).length]),
      );
      response.end(request.url === "/endless" ? Buffer.alloc(1 << 20) : "answer");
      return;
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    ports = [];
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  afterEach(() => {
    for (const socket of open) socket.destroy();
  });
  const send = separateFetch()!;

  it("is opened for each request, while the platform's fetch shares one", async () => {
    for (let i = 0; i < 3; i += 1) await (await send(url)).text();
    expect(new Set(ports).size).to.equal(3);
    ports = [];
    for (let i = 0; i < 3; i += 1) await (await fetch(url)).text();
    expect(new Set(ports).size, "the control").to.be.lessThan(3);
  });

  it("carries method, headers and body, and returns status, headers and body", async () => {
    const response = await send(url, { method: "POST", headers: { "x-a": "b" }, body: new Uint8Array(70_000) });
    expect([response.status, await response.text()]).to.deep.equal([200, "answer"]);
    expect(JSON.parse(response.headers.get("x-seen")!)).to.deep.equal(["POST", "b", 70_000]);
    expect((await send(`${url}/empty`)).status).to.equal(204);
    const moved = await send(`${url}/moved`, { redirect: "follow" });
    expect([moved.status, moved.headers.get("location")]).to.deep.equal([302, "/"]);
  });

  it("fails like fetch if the server answers with a status outside 200 to 599", async () => {
    const lines = ["000 Zero", "101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x", "600 Odd", "999 Odd"];
    const raw = createRaw((socket) => {
      socket.on("error", () => socket.destroy());
      socket.once("data", (data) => {
        const index = Number(/ \/(\d)/.exec(data.toString())![1]);
        socket.end(`HTTP/1.1 ${lines[index] ?? "599 Last"}\r\ncontent-length: 0\r\n\r\n`);
      });
    });
    await new Promise<void>((resolve) => raw.listen(0, "127.0.0.1", resolve));
    const at = `http://127.0.0.1:${(raw.address() as AddressInfo).port}`;
    try {
      for (const index of lines.keys())
        expect(await anyRejection(send(`${at}/${index}`)), lines[index]!).to.be.instanceOf(TypeError);
      expect((await send(`${at}/9`)).status, "the control").to.equal(599);
    } finally {
      raw.close();
    }
  });

  it("closes the connection of an answer whose status has no body, although the server sends one", async () => {
    const raw = createRaw((socket) => {
      socket.on("error", () => socket.destroy());
      open.add(socket);
      socket.once("close", () => open.delete(socket));
      socket.once("data", () => {
        socket.write("HTTP/1.1 205 Reset Content\r\ncontent-length: 1000000\r\n\r\n");
        const timer = setInterval(() => socket.write("x".repeat(1_000)), 5);
        socket.once("close", () => clearInterval(timer));
      });
    });
    await new Promise<void>((resolve) => raw.listen(0, "127.0.0.1", resolve));
    try {
      const response = await send(`http://127.0.0.1:${(raw.address() as AddressInfo).port}/`);
      expect([response.status, await response.text()]).to.deep.equal([205, ""]);
      await eventually(async () => open.size === 0);
    } finally {
      raw.close();
    }
  });

  it("fails like fetch if nothing listens, and ends with the signal", async () => {
    expect(await anyRejection(send("http://127.0.0.1:1"))).to.be.instanceOf(TypeError);
    const reason = new Error("enough");
    const controller = new AbortController();
    const hanging = anyRejection(send(`${url}/hangs`, { signal: controller.signal }));
    controller.abort(reason);
    expect(await hanging).to.equal(reason);
    expect(await anyRejection(send(url, { signal: controller.signal }))).to.equal(reason);
  });

  it("is limited in size and time", async () => {
    const limits = { name: "the server", maxBytes: 100_000, timeoutMs: 60_000 };
    const endless = await rejection(ask(send, `${url}/endless`, {}, limits));
    expect([endless.code, endless.message]).to.deep.equal([
      "PREPAID_UNREACHABLE",
      "the server: the response has more than 100000 bytes",
    ]);
    const hanging = await rejection(ask(send, `${url}/hangs`, {}, { ...limits, timeoutMs: 50 }));
    expect([hanging.code, hanging.message]).to.deep.equal([
      "PREPAID_UNREACHABLE",
      "the server did not answer in 50 ms",
    ]);
    expect((await ask(send, url, {}, limits)).status, "the control").to.equal(200);
  });

  describe("and a dispatcher of the program", () => {
    const GLOBAL = Symbol.for("undici.globalDispatcher.1");
    const shared = globalThis as { [GLOBAL]?: object | undefined };
    class ProxyAgent {}
    const settings = (options: object = {}, given = fetch) =>
      parsePrepaidOptions(
        { maxPerHost: 1n, mirrors: [], ...options },
        { fetch: given, services: ["https://service.example/zk"], wallet: { pool: { chainId: 31_337n } } },
      );
    let before: object | undefined;
    beforeEach(async () => {
      // Node sets its own with the first request.
      await (await fetch(url)).text();
      before = shared[GLOBAL];
    });
    afterEach(() => {
      shared[GLOBAL] = before;
    });

    it("take the services of the paying fetch as mirrors if they are named so", () => {
      expect(settings({ mirrors: "services" }).mirrors).to.deep.equal(["https://service.example/zk"]);
      for (const mirrors of ["service", undefined, {}])
        expect(() => settings({ mirrors })).to.throw("prepaid.mirrors must be a list");
    });

    it("exclude each other, because the connection would bypass the dispatcher", () => {
      const { assertNoDispatcher } = settings();
      assertNoDispatcher();
      assertNoDispatcher({ method: "GET" });
      expectCode("FETCH_OPTION_INVALID", () => assertNoDispatcher({ dispatcher: new ProxyAgent() }), /ProxyAgent/);
      shared[GLOBAL] = new ProxyAgent();
      expectCode("FETCH_OPTION_INVALID", () => assertNoDispatcher(), /ProxyAgent.*set prepaid\.fetch/);
      expectCode("FETCH_OPTION_INVALID", () => settings(), /ProxyAgent/);
    });

    it("leave no option unread: one that does not exist is refused by its name", () => {
      expectCode("FETCH_OPTION_INVALID", () => settings({ maxPerhost: 1n }), /no option maxPerhost/);
    });

    it("are both possible if packs are bought with a fetch that the program chose", () => {
      shared[GLOBAL] = new ProxyAgent();
      const wrapped: typeof fetch = (input, init) => fetch(input, init);
      for (const { assertNoDispatcher } of [settings({ fetch: wrapped }), settings({}, wrapped)])
        assertNoDispatcher({ dispatcher: new ProxyAgent() });
    });
  });
});
