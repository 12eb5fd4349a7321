// How adapters handle a decision: they report the outcome of a paid request exactly once, also after failures.

import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { setImmediate } from "node:timers/promises";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { ScriptedPaywall } from "./support/scripted.ts";
import { ADAPTERS, type ResourceServer, type SaleHandler } from "./support/servers.ts";

const CHUNK = "x".repeat(65_536);

for (const [name, start] of ADAPTERS)
  describe(`a paid request on ${name}`, function () {
    slow(this, "a chain, a service and proofs");
    let paywall: ScriptedPaywall;
    let server: ResourceServer;
    let sell: SaleHandler;
    before(async () => {
      paywall = new ScriptedPaywall();
      server = await start(paywall, (sale) => sell(sale));
    });
    after(async () => server?.close());
    beforeEach(() => {
      paywall.outcomes.length = 0;
      paywall.requests.length = 0;
      paywall.judges(() => paywall.paid());
      sell = () => ({ status: 200, text: "the goods" });
    });
    const get = () => fetch(`${server.url}/paid/a`);
    /** Sends a request and disconnects as soon as `when` resolves. */
    async function leave(when: Promise<unknown>): Promise<void> {
      const request = httpRequest(`${server.url}/paid/a`);
      request.on("error", () => undefined);
      request.end();
      await when;
      const closed = new Promise((resolve) => request.once("close", resolve));
      request.destroy();
      await closed;
    }

    it("is reported once, with the status of its response", async () => {
      for (const status of [200, 201, 404, 500, 503]) {
        paywall.outcomes.length = 0;
        sell = () => ({ status, text: "an answer" });
        const response = await get();
        expect([response.status, await response.text()]).to.deep.equal([status, "an answer"]);
        await paywall.finished(1);
        await setImmediate();
        expect(paywall.outcomes).to.deep.equal([status]);
      }
    });

    it("is reported before an error response is complete, so that the payer can retry immediately", async () => {
      sell = () => ({ status: 500, text: "failed" });
      await (await get()).text();
      expect(paywall.outcomes).to.deep.equal([500]);
    });

    it("is reported as failed if its handler throws, without a stack trace", async () => {
      sell = () => {
        throw new Error("the handler's own secret");
      };
      const response = await get();
      expect(response.status).to.equal(500);
      await response.text();
      await paywall.finished(1);
      expect(paywall.outcomes).to.deep.equal([500]);
    });

    it("is reported as aborted if the payer disconnects while the handler runs", async () => {
      let begun = () => {};
      let done = () => {};
      const working = new Promise<void>((resolve) => {
        begun = resolve;
      });
      const left = new Promise<void>((resolve) => {
        done = resolve;
      });
      sell = async () => {
        begun();
        await left;
        return { status: 200, text: "too late" };
      };
      await leave(working);
      // The server detects the disconnect on its own socket.
      for (let turn = 0; turn < 50; turn++) await setImmediate();
      done();
      await paywall.finished(1);
      await setImmediate();
      expect(paywall.outcomes).to.deep.equal(["aborted"]);
    });

    it("does not reach the handler if the payer disconnected before the check", async () => {
      let ran = false;
      sell = () => {
        ran = true;
        return { status: 200, text: "for nobody" };
      };
      let judged = () => {};
      const leaving = new Promise<void>((resolve) => {
        judged = resolve;
      });
      let arrived = () => {};
      const arrival = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      paywall.judges(async () => {
        arrived();
        await leaving;
        return paywall.paid();
      });
      await leave(arrival);
      for (let turn = 0; turn < 50; turn++) await setImmediate();
      judged();
      await paywall.finished(1);
      expect([paywall.outcomes, ran]).to.deep.equal([["unstarted"], false]);
    });

    it("is reported once for a long response, which arrives completely", async () => {
      const text = CHUNK.repeat(64);
      sell = () => ({ status: 200, text });
      expect((await (await get()).text()).length).to.equal(text.length);
      await paywall.finished(1);
      expect(paywall.outcomes).to.deep.equal([200]);
    });

    it("is reported once if the payer disconnects during a long response", async () => {
      sell = () => ({ status: 200, text: CHUNK.repeat(256) });
      const request = httpRequest(`${server.url}/paid/a`).end();
      const [response] = await once(request, "response");
      await once(response, "data");
      request.destroy();
      await paywall.finished(1);
      for (let turn = 0; turn < 50; turn++) await setImmediate();
      expect(paywall.outcomes).to.deep.equal([200]);
    });

    it("answers a rejection with its status, headers and body", async () => {
      const headers = { "www-authenticate": "x402-zk", "cache-control": "no-store", vary: "X-Payment-Proof" };
      for (const status of [400, 402, 503] as const) {
        paywall.judges(() => ({ kind: "refused", status, headers, body: { error: "an error" } }));
        const response = await get();
        expect([response.status, await response.json()]).to.deep.equal([status, { error: "an error" }]);
        for (const [header, value] of Object.entries(headers)) expect(response.headers.get(header)).to.equal(value);
      }
      expect(paywall.outcomes).to.deep.equal([]);
    });

    it("answers 503 if the paywall fails, without the reason", async () => {
      paywall.judges(() => {
        throw new Error("postgres://user:password@host");
      });
      const response = await get();
      expect(response.status).to.equal(503);
      const text = await response.text();
      expect(JSON.parse(text)).to.have.keys("error", "message");
      expect(text).to.not.match(/postgres|password|stack/);
    });

    it("serves free routes without a payment", async () => {
      paywall.judges(() => ({ kind: "free" }));
      let seen: unknown = "nothing";
      sell = ({ payment }) => {
        seen = payment;
        return { status: 200, text: "free" };
      };
      expect(await (await get()).text()).to.equal("free");
      expect(seen).to.equal(undefined);
    });

    it("has the payment attached", async () => {
      let seen: unknown;
      sell = ({ payment }) => {
        seen = payment;
        return { status: 200, text: "" };
      };
      await get();
      expect(seen).to.equal(paywall.payment);
    });

    it("passes every header and the raw target to the paywall", async () => {
      await fetch(`${server.url}/paid/a%20b?c=%2F&c=d`, { headers: { "X-Payment-Proof": "one" }, method: "DELETE" });
      const [request] = paywall.requests;
      expect([request?.method, request?.target]).to.deep.equal(["DELETE", "/paid/a%20b?c=%2F&c=d"]);
      expect(request?.header("x-payment-proof")).to.deep.equal(["one"]);
      expect(request?.header("x-other")).to.deep.equal([]);
    });
  });
