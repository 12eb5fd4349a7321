import { expect } from "chai";
import { JsonRpcProvider } from "ethers";
import { ethersChain } from "../src/ethers/index.ts";
import { type ChainSource, chainTime, clockLead, connectChain } from "../src/index.ts";
import { ADDRESS, block, HASH, rpcError, TestNode } from "./support/node.ts";

const BASE = 8453n;
const LOCAL = 31337n;
const HEAD = { number: 6, hash: HASH, timestamp: 1_800_000_000 };

describe("the chain's time", () => {
  let node: TestNode;
  let provider: JsonRpcProvider;
  beforeEach(async () => {
    node = await TestNode.start();
    provider = new JsonRpcProvider(node.url, 31337, { staticNetwork: true, cacheTimeout: -1, batchMaxCount: 1 });
  });
  afterEach(async () => {
    provider.destroy();
    await node.stop();
  });

  const sources: [name: string, open: () => ChainSource][] = [
    ["a Chain", () => connectChain({ urls: [node.url], chainId: 31337n })],
    ["an ethers provider", () => ethersChain(provider, { delay: 1 })],
  ];
  /** @param pending answer to the request for the next block; undefined: the node refuses the request */
  function serve(pending: unknown) {
    node.answers["eth_getBlockByNumber"] = ([tag]: unknown[]) =>
      tag !== "pending" ? block(6) : pending === undefined ? rpcError("unknown block", -32602) : pending;
  }
  /** A block that is not mined yet, as nodes return it. */
  const next = (seconds: number) => ({
    number: null,
    hash: null,
    timestamp: `0x${(HEAD.timestamp + seconds).toString(16)}`,
  });
  const timeAt = (chain: ChainSource, chainId: bigint, seconds: number) =>
    chainTime({ chain, head: HEAD, now: (HEAD.timestamp + seconds) * 1000, chainId });

  for (const [name, open] of sources)
    describe(`of ${name}`, () => {
      it("is the newest block's, without a request, unless that block is older than 90 s", async () => {
        serve(next(95));
        const chain = open();
        for (const seconds of [-86_400, 0, 90]) expect(await timeAt(chain, BASE, seconds)).to.equal(HEAD.timestamp);
        expect(node.count("eth_getBlockByNumber")).to.equal(0);
        expect(await timeAt(chain, BASE, 91)).to.equal(HEAD.timestamp + 95);
        expect(node.count("eth_getBlockByNumber")).to.equal(1);
      });

      it("is the next block's if no block was mined for a day", async () => {
        serve(next(86_400));
        const chain = open();
        for (const chainId of [LOCAL, BASE])
          expect(await timeAt(chain, chainId, 86_401)).to.equal(HEAD.timestamp + 86_400);
      });

      for (const [what, pending] of [
        ["refuses the request", undefined],
        ["has none", null],
        ["returns the newest block", { ...next(0), number: "0x6" }],
        ["returns something else", "0x1"],
      ] as const)
        it(`is the newest block's, and unknown on a local chain, if the node is asked for the next block and ${what}`, async () => {
          serve(pending);
          const chain = open();
          expect(await timeAt(chain, BASE, 86_400)).to.equal(HEAD.timestamp);
          expect(await timeAt(chain, LOCAL, 86_400)).to.equal(undefined);
        });
    });

  it("is the next block's if both blocks are of the same second", async () => {
    const numbered = { ...next(0), number: "0x7" };
    for (const pending of [next(0), numbered]) {
      serve(pending);
      for (const [, open] of sources) expect(await timeAt(open(), LOCAL, 86_400)).to.equal(HEAD.timestamp);
    }
  });

  it("is asked of every node, and no node is at fault for not telling it", async () => {
    const second = await TestNode.start();
    try {
      serve(undefined);
      second.answers["eth_getBlockByNumber"] = next(95);
      const chain = connectChain({ urls: [node.url, second.url], chainId: 31337n });
      expect(await timeAt(chain, LOCAL, 91)).to.equal(HEAD.timestamp + 95);
      for (const each of [node, second]) each.answers["eth_getCode"] = "0x60";
      await chain.code(ADDRESS);
      expect([node.count("eth_getCode"), second.count("eth_getCode")]).to.deep.equal([1, 0]);
    } finally {
      await second.stop();
    }
  });

  it("is what a clock is ahead of or behind, in whole seconds", () => {
    expect([clockLead(30_999, 20), clockLead(10_000, 20)]).to.deep.equal([10, -10]);
  });
});
