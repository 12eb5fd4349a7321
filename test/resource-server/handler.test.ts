// A fetch handler behind a paywall.

import { type AddressInfo, createServer } from "node:net";
import type { Payment } from "@sotto/resource-server";
import { withPayment } from "@sotto/resource-server/fetch";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { immutableRequest, ScriptedPaywall } from "./support/scripted.ts";

describe("a paywall around a handler", function () {
  slow(this, "a chain, a service and proofs");
  const paywall = new ScriptedPaywall();
  beforeEach(() => {
    paywall.outcomes.length = 0;
    paywall.judges(() => paywall.paid());
  });

  it("passes on the payment and the server's other arguments", async () => {
    const seen: unknown[] = [];
    const handler = withPayment((_request, payment: Payment | undefined, env: { name: string }, context: number) => {
      seen.push(payment, env, context);
      return new Response("paid");
    }, paywall);
    const response = await handler(new Request("http://anywhere/a?b"), { name: "worker" }, 5);
    expect(await response.text()).to.equal("paid");
    expect(seen).to.deep.equal([paywall.payment, { name: "worker" }, 5]);
    expect(paywall.requests.at(-1)?.target).to.equal("/a?b");
  });

  it("reports a handler that throws, and rethrows the error", async () => {
    const handler = withPayment(() => {
      throw new RangeError("from the handler");
    }, paywall);
    const failure = await handler(new Request("http://anywhere/")).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(RangeError);
    expect(paywall.outcomes).to.deep.equal([500]);
  });

  it("sends a status that no Response can have as a 502, with the paywall's headers", async () => {
    const server = createServer((socket) => {
      socket.on("error", () => socket.destroy());
      socket.once("data", (data) => {
        const status = / \/(\d+)/.exec(data.toString())![1];
        socket.end(`HTTP/1.1 ${status} Odd\r\nx-odd: yes\r\ncontent-length: 4\r\n\r\nbody`);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    try {
      const handler = withPayment(
        (request) => fetch(`http://127.0.0.1:${port}${new URL(request.url).pathname}`),
        paywall,
      );
      for (const [status, sent] of [
        [600, 502],
        [999, 502],
        [599, 599],
        [404, 404],
      ] as const) {
        const { headers, ...response } = await handler(new Request(`http://anywhere/${status}`)).then(
          async (answer) => ({
            status: answer.status,
            headers: answer.headers,
            body: await answer.text(),
          }),
        );
        expect(response).to.deep.equal({ status: sent, body: "body" });
        expect([headers.get("vary"), headers.get("x-odd")]).to.deep.equal(["X-Payment-Proof", "yes"]);
      }
      // The payment is released as after any failure, and reported once.
      expect(paywall.outcomes).to.deep.equal([600, 999, 599, 404]);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it("handles an immutable response", async () => {
    const fixed = Response.redirect("http://anywhere/else");
    const redirected = await withPayment(() => fixed, paywall)(new Request("http://anywhere/"));
    expect([redirected.status, redirected.headers.get("vary")]).to.deep.equal([302, "X-Payment-Proof"]);
    const broken = await withPayment(() => Response.error(), paywall)(new Request("http://anywhere/"));
    expect(broken.type).to.equal("error");
    expect(paywall.outcomes).to.deep.equal([302, 500]);
  });

  it("removes headers of a request whose headers are immutable", async () => {
    const method = new ScriptedPaywall();
    method.removedHeaders = [{ name: "X-Password" }, { name: "Authorization", scheme: "Payment" }];
    const asked: unknown[] = [];
    method.judges(async (request) => {
      const body = await request.peekBody?.(100);
      asked.push(request.header("x-password"), request.header("authorization"), Buffer.from(body ?? []).toString());
      return method.paid();
    });
    const handler = withPayment(async (request) => Response.json([...request.headers, await request.text()]), method);
    const sent = { "x-password": "sesame", authorization: "Bearer a, Payment b", "x-other": "c" };
    const seen = await handler(immutableRequest("http://anywhere/", sent));
    expect(await seen.json()).to.deep.equal([
      ["authorization", "Bearer a"],
      ["content-type", "text/plain;charset=UTF-8"],
      ["x-other", "c"],
      "a body",
    ]);
    expect(asked).to.deep.equal([["sesame"], ["Bearer a, Payment b"], "a body"]);
  });
});
