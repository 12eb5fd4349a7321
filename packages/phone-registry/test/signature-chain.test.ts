import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { assertSomeNode, chainCall, openSignatureChain } from "../src/signatures/chain.ts";

const ACCEPTED = `0x${"00".repeat(31)}01`;
const NOT_ACCEPTED = `0x${"00".repeat(32)}`;
const HEAD = { number: "0x1", hash: `0x${"11".repeat(32)}`, timestamp: "0x1" };

/** The fields of a response to eth_call. */
type Answer = { readonly result: string } | { readonly error: { readonly code: number; readonly message: string } };

describe("chain calls for signatures", () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  async function node(answer: Answer, chainId = "0x7a69"): Promise<string> {
    const server = createServer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const { id, method } = JSON.parse(Buffer.concat(parts).toString());
      const answers: Record<string, object> = {
        eth_chainId: { result: chainId },
        eth_getBlockByNumber: { result: HEAD },
        eth_call: answer,
      };
      response.end(JSON.stringify({ jsonrpc: "2.0", id, ...answers[method] }));
    });
    servers.push(server);
    await once(server.listen(0, "127.0.0.1"), "listening");
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  const open = (...urls: string[]) => openSignatureChain({ urls, chainId: 31337n, timeoutMs: 1_200_000 });
  const ask = (...urls: string[]) =>
    chainCall(open(...urls))({ data: "0x60" }).catch(({ code }: { code: unknown }) => code);
  const failing = (message: string, code = -32000) => node({ error: { code, message } });

  it("fail over to the next node", async () => {
    const healthy = await node({ result: ACCEPTED });
    for (const message of [
      "Unauthorized",
      "daily request count exceeded",
      "internal error",
      "state is pruned",
      "database reverted to a snapshot",
      "worker stack overflow",
    ]) {
      const faulty = await failing(message);
      expect(await ask(faulty, healthy), message).to.equal(ACCEPTED);
      expect(await ask(faulty), message).to.equal("CHAIN_UNAVAILABLE");
    }
  });

  it("treat a failed call as a rejected signature", async () => {
    const healthy = await node({ result: ACCEPTED });
    for (const message of ["execution reverted", "out of gas", "invalid opcode: INVALID", "invalid jump destination"])
      expect(await ask(await failing(message), healthy), message).to.equal(NOT_ACCEPTED);
  });

  it("need one answering node on the right chain", async () => {
    const [healthy, foreign] = [await node({ result: ACCEPTED }), await node({ result: ACCEPTED }, "0x1")];
    await assertSomeNode(open("http://127.0.0.1:9", foreign, healthy));
    const code = (...urls: string[]) => assertSomeNode(open(...urls)).catch((error: { code: unknown }) => error.code);
    expect(await code(foreign)).to.equal("WRONG_CHAIN");
    expect(await code("http://127.0.0.1:9")).to.equal("CHAIN_UNAVAILABLE");
  });
});
