import { ENDLESS, EndlessServer } from "@sotto/test-kit/endless-server";
import { expect } from "chai";
import { chainCall, openSignatureChain } from "../src/signatures/chain.ts";

describe("a node with an endless response", () => {
  let server: EndlessServer;
  beforeEach(async () => {
    server = new EndlessServer();
    await server.start();
  });
  afterEach(() => server.stop());

  /** The error of a registry with two such nodes. */
  async function asked(timeoutMs: number): Promise<string> {
    const call = chainCall(openSignatureChain({ urls: [server.url, server.url], chainId: 31337n, timeoutMs }));
    return call({ data: "0x" }).then(
      () => "answered",
      ({ code, cause }) => `${code}: ${cause.message}`,
    );
  }

  it("is aborted at the size limit", async () => {
    server.respond = ENDLESS.flood;
    expect(await asked(60_000)).to.match(/^CHAIN_UNAVAILABLE: 127.0.0.1:\d+ responded to eth_chainId with error/);
    expect(server.closed).to.have.length(2);
    await Promise.all(server.closed);
  });

  it("is aborted at the timeout", async () => {
    for (const respond of [ENDLESS.stall, ENDLESS.drip]) {
      server.respond = respond;
      expect(await asked(100)).to.match(/^CHAIN_UNAVAILABLE: 127.0.0.1:\d+ does not answer eth_chainId/);
    }
    await Promise.all(server.closed);
  });
});
