// Fastify: registering a paywall, combining it with other plugins, and closing an application.

import { once } from "node:events";
import { connect, constants } from "node:http2";
import { sotto as fastifyPaywall } from "@sotto/resource-server/fastify";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import fastify from "fastify";
import { NONSENSE, PREFLIGHT, REFUSAL, ScriptedPaywall } from "./support/scripted.ts";

describe("a paywall in Fastify", function () {
  slow(this, "a chain, a service and proofs");
  const paywall = new ScriptedPaywall();
  beforeEach(() => {
    paywall.requests.length = 0;
    paywall.outcomes.length = 0;
    paywall.judges(() => paywall.paid());
  });

  it("charges for its own instance, not for its parent", async () => {
    const app = closedAfterTest(
      fastify({ rewriteUrl: (request) => String(request.url).replace("/old/", "/catalog/") }),
    );
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
      { prefix: "/catalog" },
    );
    for (const url of ["/catalog/before", "/catalog/after?a=1", "/catalog/below", "/old/after"])
      expect((await app.inject(url)).json(), url).to.deep.equal({ paid: paywall.payment.resource });
    // The target that the client requested, not the rewritten one.
    const targets = ["/catalog/before", "/catalog/after?a=1", "/catalog/below", "/old/after"];
    expect(paywall.requests.map(({ target }) => target)).to.deep.equal(targets);
    expect((await app.inject("/lobby")).body).to.equal("free");
    expect(paywall.requests.length).to.equal(4);
  });

  it("charges for a plugin registered before it", async () => {
    const app = closedAfterTest(fastify());
    await app.register(async (child) => {
      child.get("/before", async (request) => ({ paid: request.payment?.resource }));
    });
    await app.register(fastifyPaywall, paywall);
    expect((await app.inject("/before")).json()).to.deep.equal({ paid: paywall.payment.resource });
  });

  it("answers preflights for its own routes, and charges for no other OPTIONS request", async () => {
    const browser = new ScriptedPaywall();
    browser.answersPreflights = true;
    browser.judges((request) =>
      request.header("access-control-request-method").length > 0 ? PREFLIGHT : browser.paid(),
    );
    const app = closedAfterTest(fastify());
    app.get("/lobby", async () => "free");
    await app.register(
      async (child) => {
        await child.register(fastifyPaywall, browser);
        child.get("/", async () => "paid");
        child.get("/report/:id", async () => "paid");
        child.put("/report/:id", async () => "paid");
        child.options("/own", async () => "own");
        child.get("/own", async () => "paid");
        child.get("/later", async () => "paid");
        child.options("/later", async () => "own");
        child.all("/any", async () => "paid");
        await child.register(async (grandchild) => void grandchild.post("/", async () => "paid"), { prefix: "/below" });
      },
      { prefix: "/catalog", prefixTrailingSlash: "both" },
    );
    const preflight = { origin: "https://page.example", "access-control-request-method": "GET" };
    const options = (url: string, headers: Record<string, string> = {}) =>
      app.inject({ method: "OPTIONS", url, headers });
    for (const url of [
      "/catalog",
      "/catalog/",
      "/catalog/report/7",
      "/catalog/own",
      "/catalog/later",
      "/catalog/any",
      "/catalog/below",
    ]) {
      const { statusCode, headers, body } = await options(url, preflight);
      expect([statusCode, headers["access-control-allow-origin"], body], url).to.deep.equal([204, "*", ""]);
    }
    for (const url of ["/catalog/own", "/catalog/later"]) expect((await options(url)).body, url).to.equal("own");
    const asked = browser.requests.length;
    for (const headers of [{}, { origin: "https://page.example" }])
      expect((await options("/catalog/report/7", headers)).statusCode).to.equal(404);
    expect(browser.requests.length).to.equal(asked);
    // Not a route of the paywall.
    for (const url of ["/lobby", "/catalog/missing"]) expect((await options(url, preflight)).statusCode).to.equal(404);
    expect((await app.inject("/catalog/report/7")).body).to.equal("paid");
  });

  it("adds no OPTIONS route without the option cors", async () => {
    const app = closedAfterTest(fastify());
    await app.register(async (child) => {
      await child.register(fastifyPaywall, paywall);
      child.get("/", async () => "paid");
    });
    expect((await app.inject({ method: "OPTIONS", url: "/" })).statusCode).to.equal(404);
    expect(paywall.requests.length).to.equal(0);
  });

  it("checks the payment before the body is read", async () => {
    const app = fastify({ bodyLimit: 10 });
    await app.register(fastifyPaywall, paywall);
    app.post("/", async () => "paid");
    paywall.judges(() => REFUSAL);
    try {
      const answer = await app.inject({ method: "POST", url: "/", payload: { long: "x".repeat(100) } });
      expect(answer.statusCode).to.equal(402);
    } finally {
      await app.close();
    }
  });

  it("keeps other values of Vary", async () => {
    const app = fastify();
    app.addHook("onRequest", async (_request, reply) => void reply.header("vary", "Origin"));
    await app.register(fastifyPaywall, paywall);
    app.get("/", async () => "paid");
    try {
      expect((await app.inject("/")).headers["vary"]).to.equal("Origin, X-Payment-Proof");
      paywall.judges(() => REFUSAL);
      expect((await app.inject("/")).headers["vary"]).to.equal("Origin, X-Payment-Proof");
    } finally {
      await app.close();
    }
  });

  it("prevents the application from starting if it cannot open", async () => {
    const app = fastify();
    const failure = await Promise.resolve(app.register(fastifyPaywall, NONSENSE)).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).to.have.property("code");
    await app.close();
  });

  it("handles HTTP/2 requests, and detects an aborted one", async () => {
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

  it("stays open if one of its applications closes", async () => {
    const app = fastify();
    await app.register(fastifyPaywall, paywall);
    await app.close();
    expect(paywall.closed).to.equal(false);
  });
});
