// What depends on the end of a paid response learns it once, on every adapter: complete, or cut.

import { once } from "node:events";
import { Agent } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { type HttpBindings, serve } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Decision } from "@sotto/resource-server";
import { withPayment } from "@sotto/resource-server/fetch";
import { sotto as honoPaywall } from "@sotto/resource-server/hono";
import { expect } from "chai";
import { Hono } from "hono";
import { overHttp1, overHttp2, type Send } from "./support/exchange.ts";
import { rawRequest } from "./support/http.ts";
import { HTTP2 } from "./support/http2.ts";
import { ScriptedPaywall } from "./support/scripted.ts";
import { ADAPTERS, type ResourceServer, type SaleHandler, type StartServer } from "./support/servers.ts";

const LONG = "x".repeat(16 << 20);

/** A promise that a test resolves. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

/** Lets what was caused so far happen. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await setImmediate();
}

const SERVERS = new Map<string, { start: StartServer; send: Send }>([
  ...[...ADAPTERS].map(([name, start]) => [name, { start, send: overHttp1 }] as const),
  ...[...HTTP2].map(([name, start]) => [name, { start, send: overHttp2 }] as const),
]);

for (const [name, { start, send }] of SERVERS)
  describe(`the end of a paid response on ${name}`, () => {
    let paywall: ScriptedPaywall;
    let server: ResourceServer;
    let sell: SaleHandler;
    beforeEach(async () => {
      paywall = new ScriptedPaywall();
      paywall.judges(() => paywall.paidUntilEnd());
      sell = () => ({ status: 200, text: "the goods" });
      server = await start(paywall, (sale) => sell(sale));
    });
    afterEach(async () => server?.close());
    const ask = (method?: string) => send(`${server.url}/paid/a`, method);
    const reports = async (count = 2) => {
      await paywall.reported(count);
      await settle();
      return paywall.reports;
    };

    it("is complete after its status, also after an error", async () => {
      for (const status of [200, 404, 500, 503]) {
        paywall.reports.length = 0;
        sell = () => ({ status, text: "an answer" });
        const exchange = ask();
        expect([await exchange.status(), await exchange.body()]).to.deep.equal([status, "an answer"]);
        expect(await reports()).to.deep.equal([status, "complete"]);
      }
    });

    it("is complete without a body", async () => {
      for (const [method, status] of [
        ["HEAD", 200],
        ["GET", 204],
        ["GET", 304],
      ] as const) {
        paywall.reports.length = 0;
        sell = () => ({ status, text: "" });
        const exchange = ask(method);
        expect([await exchange.status(), await exchange.body()]).to.deep.equal([status, ""]);
        expect(await reports()).to.deep.equal([status, "complete"]);
      }
    });

    it("is known as a whole before the headers leave, except that of a stream", async () => {
      const statuses: number[] = [];
      const finalHeaders = (status: number) => {
        statuses.push(status);
        return { "x-final": String(status) };
      };
      paywall.judges(() => ({ ...paywall.paidUntilEnd(), finalHeaders }) as Decision);
      const isResponse = /^Hono|^fetch/.test(name);
      const parts = async function* () {
        yield "part";
      };
      for (const [sold, isWhole] of [
        [{ status: 200, text: "the goods" }, !isResponse],
        [{ status: 503, text: "an error" }, !isResponse],
        [{ status: 204, text: "" }, true],
        [{ status: 200, text: "", parts: parts() }, false],
      ] as const) {
        statuses.length = 0;
        sell = () => sold;
        const exchange = ask();
        const { status } = sold;
        await exchange.body();
        const expected = isWhole ? [[status], String(status)] : [[], undefined];
        expect([statuses, (await exchange.headers())["x-final"]], `${status} ${isWhole}`).to.deep.equal(expected);
      }
    });

    it("is complete for HEAD, although the handler has a body", async () => {
      const exchange = ask("HEAD");
      expect([await exchange.status(), await exchange.body()]).to.deep.equal([200, ""]);
      expect(await reports()).to.deep.equal([200, "complete"]);
    });

    it("is reported once if the handler throws", async () => {
      sell = () => {
        throw new Error("from the handler");
      };
      const exchange = ask();
      expect(await exchange.status()).to.equal(500);
      await exchange.body();
      expect(await reports()).to.deep.equal([500, name === "fetch" ? "cut" : "complete"]);
    });

    it("comes after the last part of a stream", async () => {
      const last = gate();
      sell = () => ({
        status: 200,
        text: "",
        parts: (async function* () {
          yield "first";
          await last.opened;
          yield ", last";
        })(),
      });
      const exchange = ask();
      const body = exchange.body();
      expect(await exchange.status()).to.equal(200);
      expect(await reports(1)).to.deep.equal([200]);
      last.open();
      expect(await body).to.equal("first, last");
      expect(await reports()).to.deep.equal([200, "complete"]);
    });

    it("is cut if the payer leaves during a stream, which then ends", async () => {
      let ended = false;
      sell = () => ({
        status: 200,
        text: "",
        parts: (async function* () {
          try {
            for (;;) {
              yield "part";
              await setImmediate();
            }
          } finally {
            ended = true;
          }
        })(),
      });
      const exchange = ask();
      expect(await exchange.firstPart()).to.match(/^part/);
      await exchange.leave();
      expect(await reports()).to.deep.equal([200, "cut"]);
      while (!ended) await setImmediate();
    });

    it("is cut if the stream fails", async () => {
      sell = () => ({
        status: 200,
        text: "",
        parts: (async function* () {
          yield "first";
          await setImmediate();
          throw new Error("from the stream");
        })(),
      });
      const exchange = ask();
      await exchange.body().catch(() => "no end");
      expect(await reports()).to.deep.equal([200, "cut"]);
    });

    it("is cut if the payer leaves during a long response", async () => {
      sell = () => ({ status: 200, text: LONG });
      const exchange = ask();
      await exchange.firstPart();
      await exchange.leave();
      // The server has read the only part of the body, and nobody tells the handler what became of it.
      expect(await reports()).to.deep.equal([200, name === "fetch" ? "complete" : "cut"]);
    });

    it("is cut as soon as the payer leaves, while the handler still runs", async () => {
      const [begun, done] = [gate(), gate()];
      sell = async () => {
        begun.open();
        await done.opened;
        return { status: 200, text: "too late" };
      };
      const exchange = ask();
      await begun.opened;
      await exchange.leave();
      while (!paywall.reports.includes("cut")) await setImmediate();
      done.open();
      expect((await reports()).toSorted()).to.deep.equal(["aborted", "cut"]);
    });

    it("is cut if the payer left before the handler started", async () => {
      const [arrived, judged] = [gate(), gate()];
      paywall.judges(async () => {
        arrived.open();
        await judged.opened;
        return paywall.paidUntilEnd();
      });
      const exchange = ask();
      await arrived.opened;
      await exchange.leave();
      await settle();
      judged.open();
      expect(await reports()).to.deep.equal(["unstarted", "cut"]);
    });
  });

for (const [name, start] of ADAPTERS)
  describe(`the end of a paid response on ${name}, over HTTP/1.1`, () => {
    let paywall: ScriptedPaywall;
    let server: ResourceServer;
    beforeEach(async () => {
      paywall = new ScriptedPaywall();
      paywall.judges(() => paywall.paidUntilEnd());
      server = await start(paywall, () => ({ status: 200, text: "the goods" }));
    });
    afterEach(async () => server?.close());

    it("belongs to one of several requests of a connection", async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (let time = 1; time <= 3; time++) {
        expect(await overHttp1(`${server.url}/paid/a`, "GET", agent).body()).to.equal("the goods");
        await paywall.reported(2 * time);
      }
      agent.destroy();
      await settle();
      expect(paywall.reports).to.deep.equal([200, "complete", 200, "complete", 200, "complete"]);
    });

    it("is that of an ordinary request, if the server ignores its upgrade", async () => {
      const upgrade = ["GET /paid/a HTTP/1.1", "Connection: upgrade", "Upgrade: websocket"];
      expect((await rawRequest(server.url, upgrade)).body).to.equal("the goods");
      await paywall.reported(2);
      await settle();
      expect(paywall.reports).to.deep.equal([200, "complete"]);
    });

    it("is not watched for a decision that does not depend on it", async () => {
      paywall.judges(() => paywall.paid());
      expect(await overHttp1(`${server.url}/paid/a`).body()).to.equal("the goods");
      await settle();
      expect(paywall.reports).to.deep.equal([200]);
    });
  });

describe("the end of a response that a handler of Hono writes itself", () => {
  it("is that of the connection, and nothing is final before it", async () => {
    const paywall = new ScriptedPaywall();
    const finals: number[] = [];
    const finalHeaders = (status: number) => {
      finals.push(status);
      return {};
    };
    paywall.judges(() => ({ ...paywall.paidUntilEnd(), finalHeaders }) as Decision);
    const last = gate();
    const app = new Hono<{ Bindings: HttpBindings }>();
    app.use("*", honoPaywall(paywall));
    app.get("/", (c) => {
      const { outgoing } = c.env;
      void setImmediate().then(async () => {
        outgoing.writeHead(200).write("first");
        await last.opened;
        outgoing.end(", last");
      });
      return RESPONSE_ALREADY_SENT;
    });
    const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" });
    await once(server, "listening");
    const exchange = overHttp1(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const body = exchange.body();
    expect((await exchange.headers())["vary"]).to.equal("X-Payment-Proof");
    await settle();
    expect(paywall.reports).to.deep.equal([200]);
    last.open();
    expect(await body).to.equal("first, last");
    await paywall.reported(2);
    expect([paywall.reports, finals]).to.deep.equal([[200, "complete"], []]);
    await new Promise((resolve) => server.close(resolve));
  });
});

type Handle = (
  paywall: ScriptedPaywall,
  answer: () => Response | Promise<Response>,
) => (request: Request) => Promise<Response>;

/** Handlers without a server of Node, as on other runtimes. */
const HANDLERS = new Map<string, Handle>([
  ["fetch", (paywall, answer) => withPayment(() => answer(), paywall)],
  [
    "Hono",
    (paywall, answer) => {
      const app = new Hono();
      app.use("*", honoPaywall(paywall));
      app.all("/", () => answer());
      app.onError((_error, c) => c.text("Internal Server Error", 500));
      return async (request) => app.fetch(request);
    },
  ],
]);

for (const [name, handle] of HANDLERS)
  describe(`the end of a paid Response of ${name}`, () => {
    const paywall = new ScriptedPaywall();
    beforeEach(() => {
      paywall.reports.length = 0;
      paywall.judges(() => paywall.paidUntilEnd());
    });
    const parts = async function* () {
      for (const part of ["a", "b", "c"]) yield Buffer.from(part);
    };
    const streamed = () =>
      new Response(Readable.toWeb(Readable.from(parts())) as BodyInit, { headers: { "x-own": "kept" } });
    const ask = (answer: () => Response | Promise<Response>, init?: RequestInit) =>
      handle(paywall, answer)(new Request("http://anywhere/", init));

    it("is complete once its body was read", async () => {
      const response = await ask(streamed);
      await settle();
      expect(paywall.reports).to.deep.equal([200]);
      expect([await response.text(), response.headers.get("x-own")]).to.deep.equal(["abc", "kept"]);
      expect(paywall.reports).to.deep.equal([200, "complete"]);
    });

    it("is complete at once without a body, or for HEAD", async () => {
      await ask(() => new Response(null, { status: 204 }));
      expect(paywall.reports).to.deep.equal([204, "complete"]);
      const head = await ask(streamed, { method: "HEAD" });
      expect([await head.text(), head.headers.get("x-own")]).to.deep.equal(["", "kept"]);
      expect(paywall.reports.slice(2)).to.deep.equal([200, "complete"]);
    });

    it("is cut if the server cancels the body, which ends the handler's", async () => {
      let reason: unknown;
      const cancel = (why: unknown) => {
        reason = why;
      };
      const response = await ask(() => new Response(new ReadableStream({ cancel })));
      await response.body!.cancel("left");
      expect([paywall.reports, reason]).to.deep.equal([[200, "cut"], "left"]);
    });

    it("is cut if the client leaves, also while the handler runs", async () => {
      for (const early of [true, false]) {
        paywall.reports.length = 0;
        const client = new AbortController();
        await ask(
          () => {
            if (early) client.abort();
            return streamed();
          },
          { signal: client.signal },
        );
        client.abort();
        await settle();
        expect(paywall.reports).to.include("cut").and.to.have.length(2);
      }
    });

    it("is cut if the client left before the handler started", async () => {
      const client = new AbortController();
      paywall.judges(() => {
        client.abort();
        return paywall.paidUntilEnd();
      });
      await ask(streamed, { signal: client.signal });
      expect(paywall.reports).to.deep.equal(["unstarted", "cut"]);
    });

    it("is reported once for what is thrown, an Error or not", async () => {
      for (const thrown of [new Error("from the handler"), "no error"]) {
        paywall.reports.length = 0;
        const response = await ask(() => Promise.reject(thrown)).catch(() => undefined);
        await response?.text();
        const [outcome, end, ...more] = paywall.reports;
        expect([outcome, ["complete", "cut"].includes(end as string), more]).to.deep.equal([500, true, []]);
      }
    });
  });
