import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { chainCall, openSignatureChain } from "../src/signatures/chain.ts";

const PIECE = Buffer.alloc(1 << 16, " ");

describe("a node with an endless response", () => {
  let server: Server;
  let given: Promise<unknown>[];
  let answer: (response: ServerResponse) => void;
  before(async () => {
    server = createServer((_, response) => {
      given.push(once(response, "close"));
      answer(response);
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
  });
  beforeEach(() => {
    given = [];
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  /** The error of a registry whose two nodes both behave like this. */
  async function asked(timeout: number): Promise<string> {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const call = chainCall(openSignatureChain({ urls: [url, url], chainId: 31337n, timeoutMs: timeout }));
    return call({ data: "0x" }).then(
      () => "answered",
      ({ code, cause }) => `${code}: ${cause.message}`,
    );
  }

  it("is aborted at the size limit", async () => {
    answer = (response) => {
      const more = () => {
        while (!response.destroyed && response.write(PIECE));
      };
      response.on("drain", more);
      more();
    };
    expect(await asked(60_000)).to.match(/^CHAIN_UNAVAILABLE: 127.0.0.1:\d+ responded to eth_chainId with error/);
    expect(given).to.have.length(2);
    await Promise.all(given);
  });

  it("is aborted at the timeout", async () => {
    for (const slowly of [
      (response: ServerResponse) => void response.write("{"),
      (response: ServerResponse) => {
        const drip = setInterval(() => response.write(" "), 10);
        response.on("close", () => clearInterval(drip));
      },
    ]) {
      answer = slowly;
      expect(await asked(100)).to.match(/^CHAIN_UNAVAILABLE: 127.0.0.1:\d+ does not answer eth_chainId/);
    }
    await Promise.all(given);
  });
});
