import { ENDLESS, EndlessServer } from "@sotto/test-kit/endless-server";
import { rejection } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { isNodeFault } from "../src/errors.ts";
import { RpcEndpoint } from "../src/rpc/endpoint.ts";

describe("a node with an endless response", () => {
  let server: EndlessServer;
  const node = (timeoutMs: number) =>
    new RpcEndpoint(server.url, { timeoutMs, maxResponseBytes: 4 << 20, clock: Date.now });
  beforeEach(async () => {
    server = new EndlessServer();
    await server.start();
  });
  afterEach(() => server.stop());

  it("is cut off at the size limit, and is at fault", async () => {
    server.respond = ENDLESS.flood;
    const error = await rejection(node(600_000).ask("eth_getLogs", []));
    expect(error).to.include({ code: "NODE_ERROR" });
    expect(isNodeFault(error)).to.equal(true);
    expect(server.closed).to.have.length(1);
    await Promise.all(server.closed);
  });

  it("is cut off at the timeout, whether it stalls or sends slowly", async () => {
    for (const respond of [ENDLESS.stall, ENDLESS.drip]) {
      server.respond = respond;
      expect(await rejection(node(1_000).ask("eth_chainId", []))).to.include({ code: "NODE_UNREACHABLE" });
    }
    expect(server.closed).to.have.length(2);
    await Promise.all(server.closed);
  });
});
