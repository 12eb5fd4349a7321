import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { rejection } from "../../../test/kit/rejection.ts";
import { isNodeFault } from "../src/errors.ts";
import { RpcEndpoint } from "../src/rpc/endpoint.ts";

const MEGABYTE = Buffer.alloc(1 << 20, " ");

describe("a node with an endless response", () => {
  let server: Server;
  let given: Promise<unknown>;
  let answer: (response: ServerResponse) => void;
  const node = (timeoutMs: number) =>
    new RpcEndpoint(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
      timeoutMs,
      maxResponseBytes: 4 << 20,
      clock: Date.now,
    });
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

  it("is cut off at the size limit, and is at fault", async () => {
    answer = (response) => {
      const more = () => {
        while (!response.destroyed && response.write(MEGABYTE));
      };
      response.on("drain", more);
      more();
    };
    const error = await rejection(node(600_000).ask("eth_getLogs", []));
    expect(error).to.include({ code: "NODE_ERROR" });
    expect(isNodeFault(error)).to.equal(true);
    await given;
  });

  it("is cut off at the timeout, however it sends", async () => {
    for (const slowly of [
      (response: ServerResponse) => void response.write("{"),
      (response: ServerResponse) => {
        const drip = setInterval(() => response.write(" "), 10);
        response.on("close", () => clearInterval(drip));
      },
    ]) {
      answer = slowly;
      expect(await rejection(node(100).ask("eth_chainId", []))).to.include({ code: "NODE_UNREACHABLE" });
      await given;
    }
  });
});
