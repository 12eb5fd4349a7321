import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { rejection } from "../../../test/kit/rejection.ts";
import { type EthersChain, ethersChain } from "../src/chain/ethers.ts";

const HASH = `0x${"ab".repeat(32)}`;
const ADDRESS = `0x${"90".repeat(20)}`;

describe("chain over JSON-RPC", () => {
  let server: Server;
  let chain: EthersChain;
  /** What the node answers: a result, or an error in the way of JSON-RPC. */
  let answer: (method: string, params: unknown[]) => { result: unknown } | { error: { code: number; message: string } };
  let asked: string[];

  before(async () => {
    server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk) => {
        body += chunk;
      });
      request.on("end", () => {
        const { id, method, params } = JSON.parse(body);
        asked.push(method);
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify({ jsonrpc: "2.0", id, ...answer(method, params) }));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    chain = ethersChain(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { attempts: 3, delay: 1 });
  });
  after(() => {
    chain.close();
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    asked = [];
  });

  const log = {
    address: ADDRESS,
    topics: [HASH],
    data: "0x",
    blockNumber: "0x5",
    blockHash: HASH,
    transactionHash: HASH,
    transactionIndex: "0x0",
    logIndex: "0x1",
    removed: false,
  };

  it("reads chain id, height, code, calls and logs", async () => {
    const results: Record<string, unknown> = {
      eth_chainId: "0x7a69",
      eth_blockNumber: "0x10",
      eth_getCode: "0x60",
      eth_call: "0x01",
      eth_getLogs: [log],
    };
    answer = (method) => ({ result: results[method] ?? null });
    expect(await chain.chainId()).to.equal(31337n);
    expect(await chain.height()).to.equal(16);
    expect(await chain.code(ADDRESS)).to.equal("0x60");
    expect(await chain.call({ to: ADDRESS, data: "0x" }, 3)).to.equal("0x01");
    expect(await chain.logs(ADDRESS, 1, 9)).to.deep.equal([
      {
        topics: [HASH],
        data: "0x",
        blockNumber: 5,
        blockHash: HASH,
        transactionHash: HASH,
        logIndex: 1,
        timestamp: undefined,
      },
    ]);
    expect(await chain.block(99)).to.equal(undefined);
  });

  it("reads log timestamps as hex or as numbers", async () => {
    for (const [given, read] of [
      ["0x6b49d200", 1_800_000_000],
      [1_800_000_000, 1_800_000_000],
      ["0x0", 0],
    ]) {
      answer = () => ({ result: [{ ...log, blockTimestamp: given }] });
      expect((await chain.logs(ADDRESS, 1, 9))[0]!.timestamp, String(given)).to.equal(read);
    }
    for (const blockTimestamp of [null, -1, 1.5, "soon", `0x${"f".repeat(20)}`, {}]) {
      answer = () => ({ result: [{ ...log, blockTimestamp }] });
      expect((await chain.logs(ADDRESS, 1, 9))[0]!.timestamp, String(blockTimestamp)).to.equal(undefined);
    }
  });

  it("rejects malformed logs", async () => {
    const [none, text] = [
      { topics: null },
      { topics: 1, data: 2, blockNumber: "5", logIndex: -1, transactionHash: "0x12" },
    ];
    const edits = [none, { blockHash: null }, ...Object.entries(text).map(([name, value]) => ({ [name]: value }))];
    const wrong: unknown[] = [null, "0x", {}, [null], [[]], ...edits.map((edit) => [log, { ...log, ...edit }])];
    for (const result of wrong) {
      answer = () => ({ result });
      expect((await rejection(chain.logs(ADDRESS, 1, 9))).code, JSON.stringify(result)).to.equal("NODE_ERROR");
    }
  });

  it("asks the node for the block number each time", async () => {
    let height = 1;
    answer = () => ({ result: `0x${height.toString(16)}` });
    expect(await chain.height()).to.equal(1);
    height = 2;
    expect(await chain.height()).to.equal(2);
  });

  it("retries, then reports the node's answer without the path of its URL", async () => {
    answer = () => ({ error: { code: -32603, message: "internal error" } });
    const error = await rejection(chain.code(ADDRESS));
    expect(error.code).to.equal("NODE_ERROR");
    expect(error.message).to.match(/^127\.0\.0\.1:\d+ answered/);
    expect(asked).to.have.length(3);
    let left = 2;
    answer = () => {
      left -= 1;
      return left >= 0 ? { error: { code: -32603, message: "busy" } } : { result: "0x60" };
    };
    expect(await chain.code(ADDRESS)).to.equal("0x60");
  });

  it("recognizes range refusals and does not retry them", async () => {
    const refusals = [
      [-32005, "query returned more than 10000 results"],
      [-32602, "block range is too wide"],
      [-32000, "exceed maximum block range: 2000"],
      [-32600, "eth_getLogs is limited to a 1000 blocks range"],
      [-32602, "Log response size exceeded."],
    ] as const;
    for (const [code, message] of refusals) {
      asked = [];
      answer = () => ({ error: { code, message } });
      expect((await rejection(chain.logs(ADDRESS, 1, 5000))).code, message).to.equal("RANGE_TOO_LARGE");
      expect(asked).to.have.length(1);
      // Of a single block it is an error like others: there is nothing to divide.
      expect((await rejection(chain.logs(ADDRESS, 1, 1))).code, message).to.equal("NODE_ERROR");
    }
  });

  it("distinguishes an unreachable node from one that answers an error", async () => {
    const gone = ethersChain("http://127.0.0.1:9/secret-api-key", { attempts: 2, delay: 1 });
    for (const ask of [() => gone.chainId(), () => gone.height(), () => gone.logs(ADDRESS, 0, 10)]) {
      const error = await rejection(ask());
      expect(error.code).to.equal("NODE_UNREACHABLE");
      expect(error.message).not.to.include("secret");
    }
    gone.close();
  });
});
