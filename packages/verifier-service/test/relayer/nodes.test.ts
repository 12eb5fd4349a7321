import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { ChainReader } from "../../src/relayer/chain/reader.ts";
import { RelayerError } from "../../src/relayer/errors.ts";
import { rejected } from "../support/rejected.ts";

const HASH = `0x${"11".repeat(32)}`;

const HANG = Symbol("hang");

/** A node that answers as it is told; undefined: it is away. */
class Node {
  answers: Record<string, unknown> = { eth_chainId: "0x7a69" };
  readonly asked: string[] = [];
  readonly #server: Server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      const { id, method } = JSON.parse(body);
      this.asked.push(method);
      const answer = this.answers[method];
      if (answer === HANG) return;
      if (answer === undefined) return void response.destroy();
      const error = answer !== null && typeof answer === "object" && "error" in answer;
      response.end(JSON.stringify({ jsonrpc: "2.0", id, ...(error ? answer : { result: answer }) }));
    });
  });

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/secret-key`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

describe("nodes", () => {
  const nodes: Node[] = [];
  let time = 0;
  /** Patient: no node here is slow, whatever the machine is. */
  const reader = (...members: Node[]) =>
    new ChainReader({ urls: members.map(({ url }) => url), chainId: 31337n, timeout: 120_000, clock: () => time });
  beforeEach(async () => {
    time = 0;
    nodes.push(await new Node().start(), await new Node().start());
  });
  afterEach(async () => {
    for (const node of nodes.splice(0)) await node.stop();
  });

  const block = (number: number) => ({
    number: `0x${number.toString(16)}`,
    hash: HASH,
    timestamp: "0x1",
    baseFeePerGas: "0x2",
  });

  it("are asked in order; one that failed is passed over for a while", async () => {
    const [first, second] = nodes as [Node, Node];
    second.answers["eth_getBalance"] = "0x5";
    const chain = reader(first, second);
    expect(await chain.balance(HASH)).to.equal(5n);
    first.answers["eth_getBalance"] = "0x6";
    expect(await chain.balance(HASH)).to.equal(5n);
    time += 1_000;
    expect(await chain.balance(HASH)).to.equal(6n);
  });

  it("that hang are passed over when their time is up", async () => {
    const [first, second] = nodes as [Node, Node];
    first.answers["eth_getBalance"] = HANG;
    second.answers["eth_getBalance"] = "0x5";
    const { timeout } = AbortSignal;
    const up = new AbortController();
    AbortSignal.timeout = (ms) => {
      expect(ms).to.equal(120_000);
      return first.asked.length === 1 ? up.signal : timeout(ms);
    };
    try {
      const balance = reader(first, second).balance(HASH);
      while (!first.asked.includes("eth_getBalance")) await new Promise(setImmediate);
      expect(second.asked).to.deep.equal([]);
      up.abort(new DOMException("its time is up", "TimeoutError"));
      expect(await balance).to.equal(5n);
    } finally {
      AbortSignal.timeout = timeout;
    }
  });

  it("are used only on the chain that was asked for", async () => {
    const [first, second] = nodes as [Node, Node];
    first.answers = { eth_chainId: "0x1", eth_getBalance: "0x5" };
    second.answers["eth_getBalance"] = "0x6";
    expect(await reader(first, second).balance(HASH)).to.equal(6n);
    expect(first.asked).to.deep.equal(["eth_chainId"]);
    const error = await rejected(reader(first).balance(HASH));
    expect(error).to.include({ code: "WRONG_CHAIN" });
    expect(error.message).not.to.contain("secret-key");
  });

  it("that fall behind are passed over while another is ahead, and believed when all agree", async () => {
    const [first, second] = nodes as [Node, Node];
    first.answers["eth_getBlockByNumber"] = block(10);
    second.answers["eth_getBlockByNumber"] = block(11);
    const chain = reader(first, second);
    expect((await chain.head()).number).to.equal(10);
    first.answers["eth_getBlockByNumber"] = block(8);
    expect((await chain.head()).number).to.equal(11);
    second.answers["eth_getBlockByNumber"] = block(9);
    time += 60_000;
    expect((await chain.head()).number).to.equal(9);
  });

  it("that answer a revert are not at fault", async () => {
    const [first, second] = nodes as [Node, Node];
    first.answers["eth_call"] = { error: { code: 3, message: "execution reverted", data: "0x09bde339" } };
    const error = await rejected(reader(first, second).call({ to: HASH, data: "0x" }));
    expect(error).to.include({ code: "CALL_REVERTED", data: "0x09bde339" });
    expect(second.asked).to.deep.equal([]);
  });

  it("are all handed a transaction, and one that takes it or has it is enough", async () => {
    const [first, second] = nodes as [Node, Node];
    first.answers["eth_sendRawTransaction"] = { error: { code: -32000, message: "already known" } };
    expect(await reader(first, second).send("0x02")).to.equal(undefined);
    first.answers["eth_sendRawTransaction"] = { error: { code: -32000, message: "nonce too low" } };
    expect(await reader(first, second).send("0x02")).to.equal("nonce too low");
    second.answers["eth_sendRawTransaction"] = HASH;
    expect(await reader(first, second).send("0x02")).to.equal(undefined);
  });

  it("give nothing of the wrong form", async () => {
    const [first] = nodes as [Node];
    const cases: [string, unknown, (chain: ChainReader) => Promise<unknown>][] = [
      ["eth_getBalance", 5, (chain) => chain.balance(HASH)],
      ["eth_getBalance", "five", (chain) => chain.balance(HASH)],
      ["eth_getTransactionCount", null, (chain) => chain.transactionCount(HASH)],
      ["eth_call", "0x123", (chain) => chain.call({ to: HASH, data: "0x" })],
      ["eth_getBlockByNumber", { ...block(1), hash: "0x11" }, (chain) => chain.head()],
      ["eth_getBlockByNumber", block(7), (chain) => chain.block(6)],
      ["eth_getTransactionReceipt", { blockHash: HASH, logs: {} }, (chain) => chain.receipt(HASH)],
      ["eth_getTransactionReceipt", [], (chain) => chain.receipt(HASH)],
    ];
    for (const [method, answer, ask] of cases) {
      first.answers = { eth_chainId: "0x7a69", [method]: answer };
      const error = await rejected(ask(reader(first)));
      expect(error, method).to.be.instanceOf(RelayerError);
      expect(["NODE_ERROR", "NODE_INCONSISTENT"]).to.include(error.code);
    }
  });

  it("have http addresses", () => {
    for (const url of ["", "ws://127.0.0.1", "nothing"])
      expect(() => new ChainReader({ urls: [url], chainId: 1n })).to.throw(RelayerError, "http");
    expect(() => new ChainReader({ urls: [], chainId: 1n })).to.throw(RelayerError, "at least one");
  });
});
