// Hono: mounting a paywall and combining it with other middleware.

import { sotto as honoPaywall } from "@sotto/resource-server/hono";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { Hono } from "hono";
import { cors } from "hono/cors";
import { stream } from "hono/streaming";
import { immutableRequest, PREFLIGHT, REFUSAL, ScriptedPaywall } from "./support/scripted.ts";

describe("a paywall in Hono", function () {
  slow(this, "a chain, a service and proofs");
  const paywall = new ScriptedPaywall();
  beforeEach(() => {
    paywall.requests.length = 0;
    paywall.outcomes.length = 0;
    paywall.judges(() => paywall.paid());
  });

  it("mounted below a path sees the whole target", async () => {
    const server = new Hono();
    server.use("*", honoPaywall(paywall));
    server.get("/report", (c) => c.json({ paid: c.get("payment")?.resource }));
    const app = new Hono().basePath("/v1").route("/catalog", server);
    app.get("/lobby", (c) => c.text("free"));
    const answer = await app.request("http://anywhere/v1/catalog/report?a=1#b");
    expect(await answer.json()).to.deep.equal({ paid: paywall.payment.resource });
    expect(paywall.requests.map(({ target }) => target)).to.deep.equal(["/v1/catalog/report?a=1"]);
    expect(await (await app.request("/v1/lobby")).text()).to.equal("free");
  });

  it("answers preflights for one route", async () => {
    const app = new Hono();
    const paid = honoPaywall(paywall);
    app.options("/report", paid);
    app.get("/report", paid, (c) => c.text("paid"));
    paywall.judges((request) => (request.method === "OPTIONS" ? PREFLIGHT : paywall.paid()));
    const answer = await app.request("/report", { method: "OPTIONS" });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).to.deep.equal([204, "*"]);
    expect(await (await app.request("/report")).text()).to.equal("paid");
  });

  it("keeps other values of Vary", async () => {
    const app = new Hono();
    app.use("*", cors({ origin: ["https://page.example"], exposeHeaders: ["X-Page"] }));
    app.use("*", honoPaywall(paywall));
    app.get("/", () => new Response("paid", { headers: { vary: "Accept" } }));
    const headers = { origin: "https://page.example" };
    const vary = (response: Response) => response.headers.get("vary")?.split(", ").sort();
    expect(vary(await app.request("/", { headers }))).to.include("X-Payment-Proof");
    paywall.judges(() => REFUSAL);
    const refused = await app.request("/", { headers });
    expect(vary(refused)).to.deep.equal(["Origin", "X-Payment-Proof"]);
    expect(refused.headers.get("access-control-expose-headers")).to.equal("X-Page, WWW-Authenticate");
    expect(refused.headers.get("access-control-allow-origin")).to.equal("https://page.example");
  });

  it("leaves CORS preflights to the application", async () => {
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

  it("streams a body", async () => {
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

  it("reports the application's response to an error", async () => {
    const app = new Hono();
    app.use("*", honoPaywall(paywall));
    app.get("/", () => {
      throw new Error("from the handler");
    });
    app.onError((_error, c) => c.text("tea", 418));
    expect((await app.request("/")).status).to.equal(418);
    expect(paywall.outcomes).to.deep.equal([418]);
  });

  it("removes headers of a request whose headers are immutable", async () => {
    const method = new ScriptedPaywall();
    method.removedHeaders = [{ name: "X-Password" }];
    const app = new Hono();
    app.use("*", honoPaywall(method));
    app.post("/", async (c) =>
      c.json([c.req.header("x-password") ?? "none", c.req.header("x-other"), await c.req.text()]),
    );
    const answer = await app.fetch(immutableRequest("http://anywhere/", { "x-password": "sesame", "x-other": "c" }));
    expect(await answer.json()).to.deep.equal(["none", "c", "a body"]);
    expect(method.requests[0]!.header("x-password")).to.deep.equal(["sesame"]);
  });

  it("removes headers of an immutable request whose body another middleware has read", async () => {
    const method = new ScriptedPaywall();
    method.removedHeaders = [{ name: "X-Password" }];
    const app = new Hono();
    app.use("*", async (c, next) => {
      await c.req.text();
      await next();
    });
    app.use("*", honoPaywall(method));
    app.post("/", async (c) => c.json([c.req.header("x-password") ?? "none", await c.req.text()]));
    const answer = await app.fetch(immutableRequest("http://anywhere/", { "x-password": "sesame" }));
    expect([answer.status, await answer.json()]).to.deep.equal([200, ["none", "a body"]]);
  });
});
