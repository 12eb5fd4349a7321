// Express: mounting a paywall, combining it with other middleware, and closing it.

import { spawnSync } from "node:child_process";
import { createServer, type OutgoingHttpHeader, type OutgoingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import type { Decision } from "@sotto/resource-server";
import { sotto as expressPaywall } from "@sotto/resource-server/express";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import express from "express";
import { rawRequest } from "./support/http.ts";
import { NONSENSE, PREFLIGHT, REFUSAL, ScriptedPaywall } from "./support/scripted.ts";

describe("a paywall in Express", function () {
  slow(this, "a chain, a service and proofs");
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

  it("mounted below a path sees the whole target", async () => {
    const app = express();
    const router = express.Router();
    router.use(expressPaywall(paywall));
    router.get("/report", (request, response) => void response.json({ paid: request.payment?.resource }));
    app.use("/catalog", router);
    app.get("/lobby", (_request, response) => void response.send("free"));
    await serving(app, async (url) => {
      const body = await (await fetch(`${url}/catalog/report?a=1`)).json();
      expect(body).to.deep.equal({ paid: paywall.payment.resource });
      expect(paywall.requests.map(({ target }) => target)).to.deep.equal(["/catalog/report?a=1"]);
      expect(await (await fetch(`${url}/lobby`)).text()).to.equal("free");
      expect(paywall.requests.length).to.equal(1);
    });
  });

  it("keeps other values of Vary", async () => {
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
      paywall.judges(() => REFUSAL);
      const refused = await fetch(url);
      expect(refused.headers.get("vary")).to.equal("Origin, X-Payment-Proof");
      expect(refused.headers.get("access-control-expose-headers")).to.equal("X-Page, WWW-Authenticate");
    });
  });

  it("adds a receipt to the headers of writeHead, of which a list may repeat one", async () => {
    paywall.judges(() => ({ ...paywall.paid(), receipt: { "x-receipt": "r" } }) as Decision);
    const given: (OutgoingHttpHeaders | OutgoingHttpHeader[])[] = [
      ["Set-Cookie", "a=1", "Set-Cookie", "b=2", "Cache-Control", "public, max-age=9"],
      ["Set-Cookie", ["a=1", "b=2"], "Cache-Control", "max-age=9"],
      { "Set-Cookie": ["a=1", "b=2"], "Cache-Control": "max-age=9" },
    ];
    for (const headers of given) {
      const app = express();
      app.use(expressPaywall(paywall));
      app.get("/", (_request, response) => {
        response.setHeader("Set-Cookie", "replaced");
        response.writeHead(200, "Fine", headers).end("paid");
      });
      await serving(app, async (url) => {
        const answer = await fetch(url);
        const found = ["cache-control", "x-receipt"].map((name) => answer.headers.get(name));
        expect([answer.statusText, answer.headers.getSetCookie(), ...found]).to.deep.equal([
          "Fine",
          ["a=1", "b=2"],
          "max-age=9, private",
          "r",
        ]);
      });
    }
  });

  it("answers preflights for one route", async () => {
    const app = express();
    const paid = expressPaywall(paywall);
    app.options("/report", paid);
    app.get("/report", paid, (_request, response) => void response.send("paid"));
    paywall.judges((request) => (request.method === "OPTIONS" ? PREFLIGHT : paywall.paid()));
    await serving(app, async (url) => {
      const answer = await fetch(`${url}/report`, { method: "OPTIONS" });
      expect([answer.status, answer.headers.get("access-control-allow-origin")]).to.deep.equal([204, "*"]);
      expect(await (await fetch(`${url}/report`)).text()).to.equal("paid");
    });
  });

  it("sees every value of a repeated header in any case", async () => {
    const app = express();
    app.use(expressPaywall(paywall));
    await serving(app, async (url) => {
      await rawRequest(url, ["GET / HTTP/1.1", "X-Payment-Proof: one", "x-payment-PROOF: two", "X-Payment-Proof: "]);
      expect(paywall.requests[0]?.header("x-payment-proof")).to.deep.equal(["one", "two", ""]);
    });
  });

  it("does not answer if the application already has", async () => {
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
      for (const judge of [() => paywall.paid(), () => REFUSAL]) {
        paywall.judges(judge);
        const response = await fetch(url);
        expect([response.status, await response.text()]).to.deep.equal([504, "too slow"]);
      }
      expect([ran, paywall.outcomes]).to.deep.equal([false, ["unstarted"]]);
    });
  });

  it("reports a failure that the application's error handler handles", async () => {
    const app = express();
    app.use(expressPaywall(paywall));
    app.get("/", () => Promise.reject(new Error("from the handler")));
    app.use(
      ((_error, _request, response, _next) => void response.status(418).send("tea")) as express.ErrorRequestHandler,
    );
    await serving(app, async (url) => {
      expect((await fetch(url)).status).to.equal(418);
      expect(paywall.outcomes).to.deep.equal([418]);
    });
  });

  it("answers 503 if it cannot open, and rejects its promise", async () => {
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

  it("removes a method's header also if a middleware before it has set it", async () => {
    const method = new ScriptedPaywall();
    method.removedHeaders = [{ name: "X-Password" }];
    const app = express();
    app.use((request, _response, next) => {
      request.headers["x-password"] = "sesame";
      next();
    });
    app.use(expressPaywall(method));
    app.get("/", ({ headers }, response) => void response.json(headers["x-password"] ?? "none"));
    await serving(app, async (url) => expect(await (await fetch(url)).json()).to.equal("none"));
  });

  it("refuses a wrapper of a paywall without the headers to remove", async () => {
    const { removedHeaders: _, ...rest } = paywall;
    const wrapper = { ...rest, decide: async () => paywall.paid(), close: async () => undefined };
    const middleware = expressPaywall(wrapper as never);
    const failure = await middleware.ready.catch(({ code, message }) => `${code} ${message}`);
    expect(failure).to.match(/^INVALID_OPTION .*removedHeaders/);
    const app = express();
    app.use(middleware);
    app.get("/", (_request, response) => void response.send("for nothing"));
    await serving(app, async (url) => expect((await fetch(url)).status).to.equal(503));
  });

  it("ends the process if it cannot open and nobody handles the rejection", () => {
    const code = [
      'import { sotto } from "@sotto/resource-server/express";',
      'sotto({ origin: "nowhere" });',
      "setTimeout(() => console.log('still here'), 60_000);",
    ].join("\n");
    const { status, stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", code], {
      cwd: import.meta.dirname,
      encoding: "utf8",
    });
    expect([status, stdout]).to.deep.equal([1, ""]);
    expect(stderr).to.include("INVALID_OPTION");
  });
});
