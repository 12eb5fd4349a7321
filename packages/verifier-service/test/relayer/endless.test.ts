import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { isNodeFault } from "../../src/relayer/chain/nodes.ts";
import { RpcAnswer, rpcNode } from "../../src/relayer/chain/rpc.ts";
import { rejected } from "../support/rejected.ts";

const MEGABYTE = Buffer.alloc(1 << 20, " ");

describe("a node that answers without end", () => {
  let server: Server;
  let given: Promise<unknown>;
  let answer: (response: ServerResponse) => void;
  const node = (timeout: number) => rpcNode(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, timeout);
  beforeEach(async () => {
    server = createServer((_, response) => {
      given = once(response, "close");
      answer(response);
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  it("is given up once it has sent more than is read: others are asked, and then for fewer blocks", async () => {
    answer = (response) => {
      const more = () => {
        while (!response.destroyed && response.write(MEGABYTE));
      };
      response.on("drain", more);
      more();
    };
    const error = await rejected(node(60_000).ask("eth_getLogs", []));
    expect(error).to.be.instanceOf(RpcAnswer);
    expect(error).to.include({ code: "NODE_ERROR" });
    expect(isNodeFault(error)).to.equal(true);
    await given;
  });

  it("is given up when its time is over, however it passes it", async () => {
    for (const slowly of [
      (response: ServerResponse) => void response.write("{"),
      (response: ServerResponse) => {
        const drip = setInterval(() => response.write(" "), 10);
        response.on("close", () => clearInterval(drip));
      },
    ]) {
      answer = slowly;
      expect(await rejected(node(100).ask("eth_chainId", []))).to.include({ code: "NODE_UNREACHABLE" });
      await given;
    }
  });
});
