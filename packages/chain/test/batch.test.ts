import { rejection } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { type Chain, connectChain, MAX_BATCH } from "../src/index.ts";
import { Body, block, Envelope, GONE, receipt, rpcError, TestNode } from "./support/node.ts";

const hash = (number: number) => `0x${number.toString(16).padStart(64, "0")}`;
const hashes = (count: number) => Array.from({ length: count }, (_, number) => hash(number));

describe("batched requests", () => {
  let first: TestNode;
  let second: TestNode;
  let time: number;
  const answers = {
    // Every third transaction is not mined.
    eth_getTransactionReceipt: ([asked]: unknown[]) => (Number(asked) % 3 === 0 ? null : receipt(String(asked))),
    eth_getBlockByNumber: ([number]: unknown[]) => (Number(number) > 500 ? null : block(Number(number))),
  };
  const reader = (...nodes: TestNode[]) =>
    connectChain({ urls: nodes.map(({ url }) => url), chainId: 31337n, timeoutMs: 1_200_000, clock: () => time });
  beforeEach(async () => {
    time = 0;
    [first, second] = [await TestNode.start(answers), await TestNode.start(answers)];
  });
  afterEach(async () => {
    await first.stop();
    await second.stop();
  });

  async function expectReceipts(chain: Chain, count: number): Promise<void> {
    const found = await chain.receipts(hashes(count));
    expect(found.map((one) => one?.transactionHash)).to.deep.equal(
      hashes(count).map((one, index) => (index % 3 === 0 ? undefined : one)),
    );
  }

  it("are sent in batches of at most 100, and return results in order", async () => {
    expect(MAX_BATCH).to.equal(100);
    first.batchAnswer = (questions) =>
      questions
        .map(({ id, method, params }) => ({
          jsonrpc: "2.0",
          id,
          result: answers[method as keyof typeof answers](params),
        }))
        .reverse();
    await expectReceipts(reader(first), 250);
    expect(first.batches).to.deep.equal([100, 100, 50]);
    const blocks = await reader(first).blocks([7, 501, 3]);
    expect(blocks.map((one) => one?.number)).to.deep.equal([7, undefined, 3]);
    expect(first.batches.at(-1)).to.equal(3);
  });

  it("return the error of each call that reverts, in a batch or one at a time", async () => {
    const calls = [1, 2, 3].map((number) => ({ to: hash(7), data: `0x0${number}` }));
    first.answers["eth_call"] = ([call]: unknown[]) => {
      const { data } = call as { data: string };
      return data === "0x02" ? rpcError("execution reverted", 3, "0x09bde339") : data;
    };
    for (const refuse of [undefined, () => new Body("no batches", 400)]) {
      first.batchAnswer = refuse;
      const [one, two, three] = await reader(first, second).calls(calls);
      expect([one, three]).to.deep.equal(["0x01", "0x03"]);
      expect(two).to.include({ code: "CALL_REVERTED", data: "0x09bde339" });
    }
    expect(second.asked).to.deep.equal([]);
  });

  it("decode contract views, and treat undecodable results as the node's fault", async () => {
    const abi = {
      encodeFunctionData: (name: string, values: readonly unknown[]) => `0x${name}${values.join("")}`,
      decodeFunctionResult: (_: string, data: string) => {
        if (data === "0x") throw new Error("no data");
        return [Number(data)];
      },
    };
    const questions = ["01", "02"].map((value) => ({ abi, to: hash(7), name: "aa", values: [value] }));
    first.answers["eth_call"] = "0x";
    second.answers["eth_call"] = ([call]: unknown[]) => (call as { data: string }).data;
    expect(await reader(first, second).reads(questions)).to.deep.equal([0xaa01, 0xaa02]);
    expect(await rejection(reader(first).reads(questions))).to.include({ code: "NODE_INCONSISTENT" });
  });

  it("send nothing if the batch is empty", async () => {
    expect(await reader(first).receipts([])).to.deep.equal([]);
    expect(first.asked).to.deep.equal(["eth_chainId"]);
  });

  /** How nodes refuse batches of more than `most` calls. */
  const refusals: Record<string, (questions: readonly { id: number }[]) => unknown> = {
    "an error": () => ({
      jsonrpc: "2.0",
      id: null,
      error: { code: -32600, message: "batch requests are not supported" },
    }),
    "a list of one error": () => [{ jsonrpc: "2.0", id: null, error: { code: -32600, message: "batch too large" } }],
    "an error for each request": (questions) =>
      questions.map(({ id }) => ({ jsonrpc: "2.0", id, error: { code: -32005, message: "batch limit" } })),
    "answers to some": (questions) => questions.slice(1).map(({ id }) => ({ jsonrpc: "2.0", id, result: null })),
    "a status": () => new Body("Request Entity Too Large", 413),
    "a page": () => new Body("<html></html>"),
  };
  for (const [kind, refuse] of Object.entries(refusals)) {
    it(`are sent one at a time if the node refuses batches with ${kind}, without counting a fault`, async () => {
      first.batchAnswer = refuse;
      const chain = reader(first, second);
      await expectReceipts(chain, 100);
      expect(first.batches).to.deep.equal([100, 20, 4]);
      expect(second.asked).to.deep.equal([]);
      // The size is remembered for a minute.
      await expectReceipts(chain, 10);
      expect(first.batches.length).to.equal(3);
      time += 60_000;
      await expectReceipts(chain, 10);
      expect(first.batches.slice(3)).to.deep.equal([10, 2]);
    });

    it(`are sent in smaller batches if the node refuses large ones with ${kind}`, async () => {
      first.batchAnswer = (questions) => (questions.length > 25 ? refuse(questions) : undefined);
      await expectReceipts(reader(first, second), 100);
      expect(first.batches).to.deep.equal([100, 20, 20, 20, 20, 20]);
      expect(second.asked).to.deep.equal([]);
    });
  }

  it("fail over to the next node as a whole", async () => {
    for (const fault of [
      GONE,
      rpcError("Unauthorized"),
      new Envelope({ id: 0, result: null }),
      { wrong: "form" },
      receipt(hash(9_999)),
    ]) {
      first.answers["eth_getTransactionReceipt"] = fault;
      second.batches.splice(0);
      await expectReceipts(reader(first, second), 120);
      expect(second.batches).to.deep.equal([100, 20]);
      const error = await rejection(reader(first).receipts(hashes(120)));
      expect(["NODE_ERROR", "NODE_UNREACHABLE", "NODE_INCONSISTENT"]).to.include(error.code);
    }
  });

  it("do not mark a node as refusing batches if it failed entirely", async () => {
    const chain = reader(first);
    first.answers["eth_getTransactionReceipt"] = rpcError("internal error");
    await rejection(chain.receipts(hashes(100)));
    Object.assign(first.answers, answers);
    first.batches.splice(0);
    await expectReceipts(chain, 100);
    expect(first.batches).to.deep.equal([100]);
  });
});
