// A fetch handler behind a paywall.

import type { Payment } from "@sotto/resource-server";
import { withPayment } from "@sotto/resource-server/fetch";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { ScriptedPaywall } from "./support/scripted.ts";

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

  it("handles an immutable response", async () => {
    const fixed = Response.redirect("http://anywhere/else");
    const redirected = await withPayment(() => fixed, paywall)(new Request("http://anywhere/"));
    expect([redirected.status, redirected.headers.get("vary")]).to.deep.equal([302, "X-Payment-Proof"]);
    const broken = await withPayment(() => Response.error(), paywall)(new Request("http://anywhere/"));
    expect(broken.type).to.equal("error");
    expect(paywall.outcomes).to.deep.equal([302, 500]);
  });
});
