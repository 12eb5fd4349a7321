import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { rejection, thrown } from "../../../test/kit/rejection.ts";
import { ethersChain } from "../src/chain/ethers.ts";

const ADDRESS = `0x${"90".repeat(20)}`;
const MEGABYTE = Buffer.alloc(1 << 20, " ");

/** Sends more for as long as somebody reads. */
function sendOn(response: ServerResponse): void {
  const more = () => {
    while (!response.destroyed && response.write(MEGABYTE));
  };
  response.on("drain", more);
  more();
}

describe("a node with an endless response", () => {
  let server: Server;
  let given: Promise<unknown>[];
  let answer: (response: ServerResponse) => void;
  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const chain = (timeoutMs: number) => ethersChain(url(), { attempts: 1, timeoutMs });

  beforeEach(async () => {
    given = [];
    server = createServer((_, response) => {
      given.push(once(response, "close"));
      answer(response);
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  it("is aborted at the size limit, and a block range can then be halved", async () => {
    answer = sendOn;
    expect((await rejection(chain(60_000).height())).code).to.equal("NODE_ERROR");
    expect((await rejection(chain(60_000).logs(ADDRESS, 1, 9))).code).to.equal("RANGE_TOO_LARGE");
    expect((await rejection(chain(60_000).logs(ADDRESS, 1, 1))).code).to.equal("NODE_ERROR");
    expect(given).to.have.length(3);
    await Promise.all(given);
  });

  it("is aborted at the timeout, whether it sends nothing, a part or single bytes", async () => {
    for (const slowly of [
      () => undefined,
      (response: ServerResponse) => void response.write('{"jsonrpc":'),
      (response: ServerResponse) => {
        const drip = setInterval(() => response.write(" "), 10);
        response.on("close", () => clearInterval(drip));
      },
    ]) {
      answer = slowly;
      expect((await rejection(chain(100).height())).code).to.equal("NODE_UNREACHABLE");
    }
    await Promise.all(given);
  });

  it("cannot redirect to another endless response", async () => {
    let asked = 0;
    const elsewhere = createServer((_, response) => {
      asked += 1;
      response.end();
    });
    await once(elsewhere.listen(0, "127.0.0.1"), "listening");
    const location = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`;
    answer = (response) => void response.writeHead(307, { location }).end();
    expect((await rejection(chain(60_000).height())).code).to.equal("NODE_UNREACHABLE");
    expect(asked).to.equal(0);
    elsewhere.close();
  });

  it("is not queried at a malformed URL", () => {
    for (const wrong of ["", "node", "ws://127.0.0.1:8545", "ftp://node", "https://me:secret@node.example"]) {
      const error = thrown(() => ethersChain(wrong));
      expect(error.code, wrong).to.equal("INVALID_OPTION");
      expect(error.message).to.not.include("secret");
    }
  });
});
