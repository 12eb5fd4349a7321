// What differs between frameworks: where a paywall is put, what else stands beside it, and who closes it.
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { connect, constants } from "node:http2";
import type { AddressInfo } from "node:net";
import type { PaidProof } from "@sotto/resource-server";
import { sotto as expressPaywall } from "@sotto/resource-server/express";
import { sotto as fastifyPaywall } from "@sotto/resource-server/fastify";
import { withPayment } from "@sotto/resource-server/fetch";
import { sotto as honoPaywall } from "@sotto/resource-server/hono";
import { expect } from "chai";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { cors } from "hono/cors";
import { stream } from "hono/streaming";
import { rawRequest } from "./support/http.ts";
import { ScriptedPaywall } from "./support/scripted.ts";

const refusal = {
  kind: "refused",
  status: 402,
  headers: { vary: "X-Payment-Proof", "access-control-expose-headers": "WWW-Authenticate" },
  body: {},
} as const;

/** Options that cannot be right. */
const NONSENSE = { origin: "nowhere" } as never;

describe("a paywall in Express", () => {
  const paywall = new ScriptedPaywall();
  beforeEach(() => {
    paywall.requests.length = 0;
    paywall.outcomes.length = 0;
    paywall.judges(() => paywall.paid());
  });

  async function serving<T>(app: express.Express, use: (url: string) => Promise<T>): Promise<T> {
    app.set("env", "test");
    const server = createServer(app).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    try {
      return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }

  it("below a path sees the whole target", async () => {
    const app = express();
    const router = express.Router();
    router.use(expressPaywall(paywall));
    router.get("/report", (request, response) => void response.json({ paid: request.payment?.resource }));
    app.use("/shop", router);
    app.get("/lobby", (_request, response) => void response.send("free"));
    await serving(app, async (url) => {
      const body = await (await fetch(`${url}/shop/report?a=1`)).json();
      expect(body).to.deep.equal({ paid: paywall.payment.resource });
      expect(paywall.requests.map(({ target }) => target)).to.deep.equal(["/shop/report?a=1"]);
      expect(await (await fetch(`${url}/lobby`)).text()).to.equal("free");
      expect(paywall.requests.length).to.equal(1);
    });
  });

  it("keeps what others say of Vary", async () => {
    const app = express();
    app.use((_request, response, next) => {
      response.setHeader("vary", "Origin");
      response.setHeader("access-control-expose-headers", "X-Page");
      next();
    });
    app.use(expressPaywall(paywall));
    app.get("/", (_request, response) => void response.vary("Accept").send("paid"));
    await serving(app, async (url) => {
      const paid = await fetch(url);
      expect(paid.headers.get("vary")).to.equal("Origin, X-Payment-Proof, Accept");
      paywall.judges(() => refusal);
      const refused = await fetch(url);
      expect(refused.headers.get("vary")).to.equal("Origin, X-Payment-Proof");
      expect(refused.headers.get("access-control-expose-headers")).to.equal("X-Page, WWW-Authenticate");
    });
  });

  it("sees every value of a header that came twice, whatever its letters", async () => {
    const app = express();
    app.use(expressPaywall(paywall));
    await serving(app, async (url) => {
      await rawRequest(url, ["GET / HTTP/1.1", "X-Payment-Proof: one", "x-payment-PROOF: two", "X-Payment-Proof: "]);
      expect(paywall.requests[0]?.header("x-payment-proof")).to.deep.equal(["one", "two", ""]);
    });
  });

  it("does not answer where the application already has", async () => {
    const app = express();
    app.use((_request, response, next) => {
      response.status(504).send("too slow");
      next();
    });
    let ran = false;
    app.use(expressPaywall(paywall), () => {
      ran = true;
    });
    await serving(app, async (url) => {
      for (const judge of [() => paywall.paid(), () => refusal]) {
        paywall.judges(judge);
        const response = await fetch(url);
        expect([response.status, await response.text()]).to.deep.equal([504, "too slow"]);
      }
      expect([ran, paywall.outcomes]).to.deep.equal([false, ["aborted"]]);
    });
  });

  it("is told of a failure, where the application's own handler makes something of it", async () => {
    const app = express();
    app.use(expressPaywall(paywall));
    app.get("/", () => Promise.reject(new Error("of the shop")));
    app.use(
      ((_error, _request, response, _next) => void response.status(418).send("tea")) as express.ErrorRequestHandler,
    );
    await serving(app, async (url) => {
      expect((await fetch(url)).status).to.equal(418);
      expect(paywall.outcomes).to.deep.equal([418]);
    });
  });

  it("that cannot be opened answers 503, and says so to who made it", async () => {
    const middleware = expressPaywall(NONSENSE);
    const failure = await middleware.ready.then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).to.have.property("code");
    const app = express();
    app.use(middleware);
    app.get("/", (_request, response) => void response.send("for nothing"));
    await serving(app, async (url) => expect((await fetch(url)).status).to.equal(503));
    await middleware.close();
  });

  it("that cannot be opened ends a process that does not look", () => {
    const code = [
      'import { sotto } from "@sotto/resource-server/express";',
      'sotto({ origin: "nowhere" });',
      "setTimeout(() => console.log('still here'), 1000);",
    ].join("\n");
    const { status, stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", code], {
      cwd: import.meta.dirname,
      encoding: "utf8",
    });
    expect([status, stdout]).to.deep.equal([1, ""]);
    expect(stderr).to.include("INVALID_OPTION");
  });
});

describe("a paywall in Fastify", () => {
  const paywall = new ScriptedPaywall();
  beforeEach(() => {
    paywall.requests.length = 0;
    paywall.outcomes.length = 0;
    paywall.judges(() => paywall.paid());
  });

  it("charges for what its instance serves, and not for what its parent does", async () => {
    const app = fastify({ rewriteUrl: (request) => String(request.url).replace("/old/", "/shop/") });
    app.get("/lobby", async () => "free");
    await app.register(
      async (child) => {
        child.get("/before", async (request) => ({ paid: request.payment?.resource }));
        await child.register(fastifyPaywall, paywall);
        child.get("/after", async (request) => ({ paid: request.payment?.resource }));
        await child.register(async (grandchild) => {
          grandchild.get("/below", async (request) => ({ paid: request.payment?.resource }));
        });
      },
      { prefix: "/shop" },
    );
    try {
      for (const url of ["/shop/before", "/shop/after?a=1", "/shop/below", "/old/after"])
        expect((await app.inject(url)).json(), url).to.deep.equal({ paid: paywall.payment.resource });
      // What the client asked for, not what the server makes of it.
      const targets = ["/shop/before", "/shop/after?a=1", "/shop/below", "/old/after"];
      expect(paywall.requests.map(({ target }) => target)).to.deep.equal(targets);
      expect((await app.inject("/lobby")).body).to.equal("free");
      expect(paywall.requests.length).to.equal(4);
    } finally {
      await app.close();
    }
  });

  it("charges for a plugin that was there before it, too", async () => {
    const app = fastify();
    await app.register(async (child) => {
      child.get("/before", async (request) => ({ paid: request.payment?.resource }));
    });
    await app.register(fastifyPaywall, paywall);
    try {
      expect((await app.inject("/before")).json()).to.deep.equal({ paid: paywall.payment.resource });
    } finally {
      await app.close();
    }
  });

  it("judges before a body is read", async () => {
    const app = fastify({ bodyLimit: 10 });
    await app.register(fastifyPaywall, paywall);
    app.post("/", async () => "paid");
    paywall.judges(() => refusal);
    try {
      const answer = await app.inject({ method: "POST", url: "/", payload: { long: "x".repeat(100) } });
      expect(answer.statusCode).to.equal(402);
    } finally {
      await app.close();
    }
  });

  it("keeps what others say of Vary", async () => {
    const app = fastify();
    app.addHook("onRequest", async (_request, reply) => void reply.header("vary", "Origin"));
    await app.register(fastifyPaywall, paywall);
    app.get("/", async () => "paid");
    try {
      expect((await app.inject("/")).headers["vary"]).to.equal("Origin, X-Payment-Proof");
      paywall.judges(() => refusal);
      expect((await app.inject("/")).headers["vary"]).to.equal("Origin, X-Payment-Proof");
    } finally {
      await app.close();
    }
  });

  it("that cannot be opened keeps the application from starting", async () => {
    const app = fastify();
    const failure = await Promise.resolve(app.register(fastifyPaywall, NONSENSE)).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).to.have.property("code");
    await app.close();
  });

  it("follows a request of HTTP/2, and sees when its payer leaves", async () => {
    const app = fastify({ http2: true });
    await app.register(fastifyPaywall, paywall);
    let begun = () => {};
    const working = new Promise<void>((resolve) => {
      begun = resolve;
    });
    let left = () => {};
    const leaving = new Promise<void>((resolve) => {
      left = resolve;
    });
    app.get("/", async () => "paid");
    app.get("/slow", async () => {
      begun();
      await leaving;
      return "too late";
    });
    const url = await app.listen({ port: 0, host: "127.0.0.1" });
    const client = connect(url);
    try {
      const proofs = { "x-payment-proof": ["one", "two"] };
      const served = client.request({ ":path": "/?a=1", ...proofs });
      const [headers] = await once(served, "response");
      served.resume();
      expect(headers[":status"]).to.equal(200);
      expect(paywall.requests[0]?.target).to.equal("/?a=1");
      expect(paywall.requests[0]?.header("x-payment-proof")).to.deep.equal(["one", "two"]);
      const slow = client.request({ ":path": "/slow" });
      await working;
      slow.close(constants.NGHTTP2_CANCEL);
      await once(slow, "close");
      await paywall.finished(2);
      left();
      expect(paywall.outcomes).to.deep.equal([200, "aborted"]);
    } finally {
      client.close();
      await app.close();
    }
  });

  it("is not closed with one application that uses it", async () => {
    const app = fastify();
    await app.register(fastifyPaywall, paywall);
    await app.close();
    expect(paywall.closed).to.equal(false);
  });
});

describe("a paywall in Hono", () => {
  const paywall = new ScriptedPaywall();
  beforeEach(() => {
    paywall.requests.length = 0;
    paywall.outcomes.length = 0;
    paywall.judges(() => paywall.paid());
  });

  it("below a path sees the whole target", async () => {
    const shop = new Hono();
    shop.use("*", honoPaywall(paywall));
    shop.get("/report", (c) => c.json({ paid: c.get("payment")?.resource }));
    const app = new Hono().basePath("/v1").route("/shop", shop);
    app.get("/lobby", (c) => c.text("free"));
    const answer = await app.request("http://anywhere/v1/shop/report?a=1#b");
    expect(await answer.json()).to.deep.equal({ paid: paywall.payment.resource });
    expect(paywall.requests.map(({ target }) => target)).to.deep.equal(["/v1/shop/report?a=1"]);
    expect(await (await app.request("/v1/lobby")).text()).to.equal("free");
  });

  it("keeps what others say of Vary", async () => {
    const app = new Hono();
    app.use("*", cors({ origin: ["https://page.example"], exposeHeaders: ["X-Page"] }));
    app.use("*", honoPaywall(paywall));
    app.get("/", () => new Response("paid", { headers: { vary: "Accept" } }));
    const headers = { origin: "https://page.example" };
    const vary = (response: Response) => response.headers.get("vary")?.split(", ").sort();
    expect(vary(await app.request("/", { headers }))).to.include("X-Payment-Proof");
    paywall.judges(() => refusal);
    const refused = await app.request("/", { headers });
    expect(vary(refused)).to.deep.equal(["Origin", "X-Payment-Proof"]);
    expect(refused.headers.get("access-control-expose-headers")).to.equal("X-Page, WWW-Authenticate");
    expect(refused.headers.get("access-control-allow-origin")).to.equal("https://page.example");
  });

  it("leaves a page's preflight to who answers for other origins", async () => {
    const app = new Hono();
    app.use("*", cors({ origin: ["https://page.example"], allowHeaders: ["X-Payment-Proof"] }));
    app.use("*", honoPaywall(paywall));
    app.all("/", (c) => c.text("paid"));
    const asks = { origin: "https://page.example", "access-control-request-method": "GET" };
    const answer = await app.request("/", { method: "OPTIONS", headers: asks });
    expect([answer.status, await answer.text()]).to.deep.equal([204, ""]);
    expect(answer.headers.get("access-control-allow-headers")).to.equal("X-Payment-Proof");
    expect(paywall.requests).to.deep.equal([]);
  });

  it("lets a body stream", async () => {
    const app = new Hono();
    app.use("*", honoPaywall(paywall));
    app.get("/", (c) =>
      stream(c, async (out) => {
        for (const part of ["a", "b", "c"]) await out.write(part);
      }),
    );
    const answer = await app.request("/");
    expect(await answer.text()).to.equal("abc");
    expect(paywall.outcomes).to.deep.equal([200]);
  });

  it("is told of what the application makes of an error", async () => {
    const app = new Hono();
    app.use("*", honoPaywall(paywall));
    app.get("/", () => {
      throw new Error("of the shop");
    });
    app.onError((_error, c) => c.text("tea", 418));
    expect((await app.request("/")).status).to.equal(418);
    expect(paywall.outcomes).to.deep.equal([418]);
  });
});

describe("a paywall around a handler", () => {
  const paywall = new ScriptedPaywall();
  beforeEach(() => {
    paywall.outcomes.length = 0;
    paywall.judges(() => paywall.paid());
  });

  it("passes on the payment, and whatever else the server passes", async () => {
    const seen: unknown[] = [];
    const handler = withPayment((_request, payment: PaidProof | undefined, env: { name: string }, context: number) => {
      seen.push(payment, env, context);
      return new Response("paid");
    }, paywall);
    const response = await handler(new Request("http://anywhere/a?b"), { name: "worker" }, 5);
    expect(await response.text()).to.equal("paid");
    expect(seen).to.deep.equal([paywall.payment, { name: "worker" }, 5]);
    expect(paywall.requests.at(-1)?.target).to.equal("/a?b");
  });

  it("is told of a handler that throws, whose error goes on", async () => {
    const handler = withPayment(() => {
      throw new RangeError("of the shop");
    }, paywall);
    const failure = await handler(new Request("http://anywhere/")).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(RangeError);
    expect(paywall.outcomes).to.deep.equal([500]);
  });

  it("takes a response that cannot be changed for what it is", async () => {
    const fixed = Response.redirect("http://anywhere/else");
    const redirected = await withPayment(() => fixed, paywall)(new Request("http://anywhere/"));
    expect([redirected.status, redirected.headers.get("vary")]).to.deep.equal([302, "X-Payment-Proof"]);
    const broken = await withPayment(() => Response.error(), paywall)(new Request("http://anywhere/"));
    expect(broken.type).to.equal("error");
    expect(paywall.outcomes).to.deep.equal([302, 500]);
  });
});
