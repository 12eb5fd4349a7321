import { rejection } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { JsonRpcProvider, Transaction, Wallet } from "ethers";
import { ethersChain, ethersProvider, sendCall } from "../src/ethers/index.ts";
import { type ChainSource, connectChain } from "../src/index.ts";
import { ADDRESS, Envelope, HASH, LOG, rpcError, TestNode } from "./support/node.ts";

const BLOCK = {
  number: "0x10",
  hash: HASH,
  parentHash: HASH,
  timestamp: "0x20",
  nonce: `0x${"00".repeat(8)}`,
  difficulty: "0x0",
  gasLimit: "0x0",
  gasUsed: "0x0",
  miner: ADDRESS,
  extraData: "0x",
  transactions: [],
  baseFeePerGas: "0x7",
};

describe("with ethers", () => {
  let node: TestNode;
  beforeEach(async () => {
    node = await TestNode.start();
  });
  afterEach(() => node.stop());

  describe("a provider as the source of a chain", () => {
    let provider: JsonRpcProvider;
    let chain: ChainSource;
    beforeEach(() => {
      provider = new JsonRpcProvider(node.url, 31337, { staticNetwork: true, cacheTimeout: -1, batchMaxCount: 1 });
      chain = ethersChain(provider, { attempts: 3, delay: 1 });
    });
    afterEach(() => provider.destroy());

    it("returns chain id, blocks, code, call results and logs with their times", async () => {
      Object.assign(node.answers, {
        eth_getBlockByNumber: ([number]: unknown[]) => (number === "latest" || number === "0x10" ? BLOCK : null),
        eth_getCode: "0x60",
        eth_call: "0x01",
        eth_getLogs: [{ ...LOG, blockTimestamp: "0x20" }],
      });
      expect(await chain.chainId()).to.equal(31337n);
      expect(await chain.head()).to.deep.equal({ number: 16, hash: HASH, timestamp: 32 });
      expect(await chain.block(16)).to.deep.equal({ number: 16, hash: HASH, timestamp: 32 });
      expect(await chain.block(99)).to.equal(undefined);
      expect(await chain.code(ADDRESS)).to.equal("0x60");
      expect(await chain.call({ to: ADDRESS, data: "0x" }, 3)).to.equal("0x01");
      const query = { address: ADDRESS, from: 1, to: 9 };
      expect((await chain.logs(query))[0]).to.include({ address: ADDRESS, blockNumber: 5, logIndex: 1, timestamp: 32 });
    });

    it("is retried after a fault, and errors repeat neither its message nor its URL", async () => {
      let left = 0;
      node.answers["eth_getCode"] = () => (left-- > 0 ? rpcError("secret words", -32603) : "0x60");
      left = 3;
      const error = await rejection(chain.code(ADDRESS));
      expect(error).to.include({ code: "NODE_ERROR" });
      expect(error.message).not.to.include("secret");
      expect(node.count("eth_getCode")).to.equal(3);
      left = 2;
      expect(await chain.code(ADDRESS)).to.equal("0x60");
    });

    it("must be a provider, not a URL", () => {
      for (const provider of ["http://127.0.0.1:8545", undefined, null, {}])
        expect(() => ethersChain(provider as never))
          .to.throw("provider must be")
          .with.property("code", "INVALID_OPTION");
    });

    it("recognizes how known nodes refuse a range, and does not retry such a range", async () => {
      for (const [code, message] of [
        [-32005, "query returned more than 10000 results"],
        [-32602, "block range is too wide"],
        [-32000, "exceed maximum block range: 2000"],
        [-32600, "eth_getLogs is limited to a 1000 blocks range"],
        [-32602, "Log response size exceeded."],
      ] as const) {
        const before = node.count("eth_getLogs");
        node.answers["eth_getLogs"] = rpcError(message, code);
        const range = chain.logs({ address: ADDRESS, from: 1, to: 5_000 });
        expect(await rejection(range), message).to.include({ code: "RANGE_TOO_LARGE" });
        expect(node.count("eth_getLogs")).to.equal(before + 1);
        // For a single block it is an ordinary error, because the range cannot be divided.
        const block = chain.logs({ address: ADDRESS, from: 1, to: 1 });
        expect(await rejection(block), message).to.include({ code: "NODE_ERROR" });
      }
    });

    it("fails with NODE_UNREACHABLE if its node is down", async () => {
      const gone = new JsonRpcProvider("http://127.0.0.1:9/secret", 31337, { staticNetwork: true });
      const error = await rejection(ethersChain(gone, { attempts: 2, delay: 1 }).head());
      expect(error).to.include({ code: "NODE_UNREACHABLE" });
      expect(error.message).not.to.include("secret");
      gone.destroy();
    });
  });

  describe("a provider created from a chain", () => {
    it("fails over if a node is at fault, and sends transactions to all nodes", async () => {
      const other = await TestNode.start({ eth_getBalance: "0x5", eth_sendRawTransaction: HASH });
      Object.assign(node.answers, { eth_getBalance: rpcError("busy"), eth_sendRawTransaction: HASH });
      const provider = ethersProvider(connectChain({ urls: [node.url, other.url], chainId: 31337n }));
      expect(await provider.getBalance(ADDRESS)).to.equal(5n);
      const wallet = Wallet.createRandom();
      const raw = await wallet.signTransaction({
        chainId: 31337,
        to: ADDRESS,
        gasLimit: 21_000,
        maxFeePerGas: 1,
        maxPriorityFeePerGas: 1,
        nonce: 0,
        type: 2,
      });
      expect(await provider.send("eth_sendRawTransaction", [raw])).to.equal(Transaction.from(raw).hash);
      while ([node, other].some((one) => one.count("eth_sendRawTransaction") === 0)) await new Promise(setImmediate);
      provider.destroy();
      await other.stop();
    });

    it("passes reverted calls and refused transactions on to ethers", async () => {
      Object.assign(node.answers, {
        eth_estimateGas: new Envelope({
          error: { code: 3, message: "execution reverted", data: `0x${"12".repeat(4)}` },
        }),
        eth_getTransactionCount: "0x0",
        eth_getBlockByNumber: BLOCK,
        eth_maxPriorityFeePerGas: "0x1",
        eth_gasPrice: "0x1",
        eth_sendRawTransaction: rpcError("nonce too low"),
      });
      const provider = ethersProvider(connectChain({ urls: [node.url], chainId: 31337n }));
      const signer = Wallet.createRandom().connect(provider);
      const call = { to: ADDRESS, data: "0x" };
      expect(await rejection(sendCall(signer, call))).to.include({ code: "TRANSACTION_FAILED" });
      node.answers["eth_estimateGas"] = "0x5208";
      expect(await rejection(sendCall(signer, call))).to.include({ code: "NONCE_EXPIRED" });
      provider.destroy();
    });
  });
});
