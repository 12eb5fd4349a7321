import { FaultyNode } from "@sotto/test-kit/faulty-node";
import { anyRejection } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { abortable } from "../src/abortable.ts";
import { connectChain } from "../src/chain.ts";
import { unlessAborted } from "../src/delay.ts";

describe("an abortable chain", () => {
  it("throws the signal's reason while its node does not answer, and then sends nothing, not even a transaction", async () => {
    const node = await FaultyNode.start("http://127.0.0.1:9");
    node.mode = "hangs";
    try {
      const stop = new AbortController();
      const reason = new Error("enough");
      const chain = abortable(connectChain({ urls: [node.url], chainId: 1n, timeoutMs: 60_000 }), stop.signal);
      const asked = [chain.head(), chain.balance("0x00"), chain.useNode(async (one) => one.head())];
      const errors = Promise.all(asked.map(anyRejection));
      stop.abort(reason);
      expect(await errors).to.deep.equal([reason, reason, reason]);
      const { requests } = node;
      expect(await anyRejection(chain.broadcast("0x00"))).to.equal(reason);
      expect(node.requests).to.equal(requests);
      expect(chain.expectedChainId).to.equal(1n);
    } finally {
      await node.stop();
    }
  });

  it("answers as the chain does while nothing is aborted", async () => {
    const chain = { head: async () => 7, name: "one" };
    const { signal } = new AbortController();
    for (const same of [abortable(chain, signal), abortable(chain, undefined)])
      expect([await same.head(), same.name]).to.deep.equal([7, "one"]);
  });

  it("does not leave the rejection of a request unhandled that was aborted before", async () => {
    const reason = new Error("enough");
    const late = new Promise((_, reject) => setImmediate(() => reject(new Error("too late"))));
    expect(await anyRejection(unlessAborted(late, AbortSignal.abort(reason)))).to.equal(reason);
    // Mocha fails on a rejection that nobody handles.
    await new Promise((resolve) => setTimeout(resolve, 10));
  });
});
