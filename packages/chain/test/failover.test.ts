import { anyRejection, rejection } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { assertNodes, type Chain, ChainError, type ChainNode, type ChainOptions, connectChain } from "../src/index.ts";
import { ADDRESS, Body, block, Envelope, GONE, HANG, HASH, receipt, rpcError, TestNode } from "./support/node.ts";

/** A timeout that no machine reaches: requests time out only in tests that set a shorter one. */
const TIMEOUT = 1_200_000;

const CALL = { to: ADDRESS, data: "0x" };
const TRANSACTION = { hash: HASH, from: ADDRESS, to: null, input: "0x" };

/** Each method of a Chain, its JSON-RPC method, and a valid result. */
const QUESTIONS: [method: string, answer: unknown, ask: (chain: Chain) => Promise<unknown>][] = [
  ["eth_getBlockByNumber", block(6), (chain) => chain.head()],
  ["eth_getBlockByNumber", block(6), (chain) => chain.block(6)],
  ["eth_getBlockByNumber", block(6), (chain) => chain.blocks([6])],
  ["eth_getLogs", [], (chain) => chain.useNode((view) => view.logs({ address: ADDRESS, from: 1, to: 1 }))],
  ["eth_getLogs", [], (chain) => chain.useNode((view) => view.logs({ address: ADDRESS, from: 1, to: 1_000 }))],
  ["eth_call", "0x05", (chain) => chain.call(CALL)],
  ["eth_estimateGas", "0x5", (chain) => chain.estimateGas(CALL)],
  ["eth_maxPriorityFeePerGas", "0x5", (chain) => chain.priorityFee()],
  ["eth_getTransactionCount", "0x5", (chain) => chain.transactionCount(ADDRESS)],
  ["eth_getBalance", "0x5", (chain) => chain.balance(ADDRESS)],
  ["eth_getCode", "0x05", (chain) => chain.code(ADDRESS)],
  ["eth_getTransactionReceipt", receipt(HASH), (chain) => chain.receipt(HASH)],
  ["eth_getTransactionReceipt", receipt(HASH), (chain) => chain.receipts([HASH, HASH])],
  ["eth_getTransactionByHash", TRANSACTION, (chain) => chain.transaction(HASH)],
];

/** Faults of a node, which do not depend on the request. */
const FAULTS: Record<string, unknown> = {
  "has no key": rpcError("Unauthorized", -32000),
  "has exceeded its daily limit": rpcError("daily request count exceeded, request rate limited", -32005),
  "has an internal error": rpcError("internal error", -32603),
  "has pruned the state": rpcError("state is pruned", -32000),
  "lacks a trie node": rpcError("missing trie node 5f3c (path )", -32000),
  "lost its header": rpcError("header not found", -32000, HASH),
  "speaks of a revert of its own": rpcError("database reverted to a snapshot, try again", -32000),
  "gives an error that is a text": new Envelope({ error: "Unauthorized" }),
  "sends an error with another status": new Body('{"error":{"code":-32000,"message":"no key"}}', 401),
  "sends a page with status 502": new Body("<html>bad gateway</html>", 502),
  "sends no JSON": new Body("<html>maintenance</html>"),
  "answers another request": new Envelope({ id: 99_999, result: "0x1" }),
  "gives no result": new Envelope({}),
  "gives a result of the wrong form": { number: "seven" },
  "closes the connection": GONE,
};

describe("a chain with several nodes", () => {
  const nodes: TestNode[] = [];
  let time = 0;
  const reader = (members: readonly TestNode[], options: Partial<ChainOptions> = {}) =>
    connectChain({
      urls: members.map(({ url }) => url),
      chainId: 31337n,
      timeoutMs: TIMEOUT,
      clock: () => time,
      ...options,
    });
  let first: TestNode;
  let second: TestNode;
  beforeEach(async () => {
    time = 0;
    [first, second] = [await TestNode.start(), await TestNode.start()];
    nodes.push(first, second);
  });
  afterEach(async () => {
    for (const node of nodes.splice(0)) await node.stop();
  });

  it("tries them in order, and tries a failed node last for a while", async () => {
    second.answers["eth_getBalance"] = "0x5";
    const chain = reader([first, second]);
    expect(await chain.balance(HASH)).to.equal(5n);
    first.answers["eth_getBalance"] = "0x6";
    expect(await chain.balance(HASH)).to.equal(5n);
    time += 500;
    expect(await chain.balance(HASH)).to.equal(6n);
  });

  it("pauses a node that keeps failing for 0.5 to 30 s, and counts concurrent failures once", async () => {
    second.answers["eth_getBalance"] = "0x5";
    const chain = reader([first, second]);
    const askedAgain = async () => {
      const before = first.asked.length;
      await chain.balance(ADDRESS);
      return first.asked.length > before;
    };
    await Promise.all(Array.from({ length: 5 }, () => chain.balance(ADDRESS)));
    for (const pause of [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      time += pause - 1;
      expect(await askedAgain(), `${pause - 1} ms`).to.equal(false);
      time += 1;
      expect(await askedAgain(), `${pause} ms`).to.equal(true);
    }
  });

  for (const [fault, answer] of Object.entries(FAULTS))
    it(`answers every request if the first node ${fault}`, async () => {
      for (const [method, good, ask] of QUESTIONS) {
        second.answers = { ...second.answers, [method]: good };
        const expected = await ask(reader([second]));
        first.answers = { eth_chainId: "0x7a69", [method]: answer };
        expect(await ask(reader([first, second])), method).to.deep.equal(expected);
        // The first node alone returns no result, so the result came from the second one.
        if (method === "eth_maxPriorityFeePerGas") expect(await ask(reader([first]))).to.equal(undefined);
        else {
          const error = await rejection(ask(reader([first])));
          expect(error, method).to.be.instanceOf(ChainError);
          expect(["NODE_ERROR", "NODE_UNREACHABLE", "RANGE_TOO_LARGE"], method).to.include(error.code);
          expect(error.message).not.to.contain("secret-key");
        }
      }
    });

  it("tries a faulty node last, but never skips it", async () => {
    first.answers["eth_getBalance"] = "0x5";
    second.answers["eth_getBalance"] = rpcError("internal error");
    const chain = reader([second, first]);
    expect(await chain.balance(ADDRESS)).to.equal(5n);
    first.answers["eth_getBalance"] = rpcError("internal error");
    second.answers["eth_getBalance"] = "0x6";
    expect(await chain.balance(ADDRESS)).to.equal(6n);
  });

  it("skips a hanging node after its timeout, and does not wait for it again", async () => {
    first.answers["eth_getBalance"] = HANG;
    second.answers["eth_getBalance"] = "0x5";
    const { timeout } = AbortSignal;
    const up = new AbortController();
    AbortSignal.timeout = (ms) => {
      expect(ms).to.equal(TIMEOUT);
      return first.asked.length === 1 ? up.signal : timeout(ms);
    };
    try {
      const chain = reader([first, second]);
      const balance = chain.balance(HASH);
      while (!first.asked.includes("eth_getBalance")) await new Promise(setImmediate);
      expect(second.asked).to.deep.equal([]);
      up.abort(new DOMException("its time is up", "TimeoutError"));
      expect(await balance).to.equal(5n);
      expect(await chain.balance(HASH)).to.equal(5n);
      expect(first.count("eth_getBalance")).to.equal(1);
    } finally {
      AbortSignal.timeout = timeout;
    }
  });

  it("does not wait for a second node that hangs", async () => {
    second.answers["eth_chainId"] = HANG;
    const chain = reader([first, second]);
    const [head, ...others] = QUESTIONS;
    for (const [method, answer, ask] of others) {
      first.answers = { ...first.answers, [method]: answer };
      await ask(chain);
    }
    expect(second.asked).to.deep.equal([]);
    // The first question for the newest block compares the nodes.
    await head![2](chain);
    expect(second.asked).to.deep.equal(["eth_chainId"]);
  });

  it("uses other nodes from the next request on, and keeps what it knows of those that stay", async () => {
    const third = await TestNode.start({ eth_getBalance: "0x7" });
    nodes.push(third);
    first.answers["eth_getBalance"] = GONE;
    second.answers["eth_getBalance"] = "0x5";
    const chain = reader([first, second]);
    expect(await chain.balance(ADDRESS)).to.equal(5n);
    second.answers["eth_getCode"] = HANG;
    const asked = new Promise<void>((resolve) => {
      second.onQuestion = (method) => {
        if (method === "eth_getCode") resolve();
      };
    });
    first.answers["eth_getCode"] = "0x01";
    third.answers["eth_getCode"] = "0x03";
    const running = chain.code(ADDRESS);
    await asked;
    chain.useNodes([first.url, third.url], TIMEOUT);
    // The first node was at fault before, so it still comes last.
    expect(await chain.balance(ADDRESS)).to.equal(7n);
    expect(chain.nodes.map(({ host, requests, paused }) => [host, requests > 0, paused])).to.deep.equal([
      [first.name, true, true],
      [third.name, true, false],
    ]);
    // The running request still fails over to the nodes that it began with.
    await second.stop();
    expect(await running).to.equal("0x01");
    expect(() => chain.useNodes([third.url, "ftp://node"], TIMEOUT)).to.throw("http or https");
    expect(() => chain.useNodes([], TIMEOUT)).to.throw("at least one node");
    expect(chain.nodes).to.have.length(2);
  });

  it("asserts before it uses other nodes that none is on another chain and one responds", async () => {
    const check = (members: readonly TestNode[]) =>
      assertNodes({ urls: members.map(({ url }) => url), chainId: 31337n, timeoutMs: TIMEOUT });
    await check([first, second]);
    first.answers["eth_chainId"] = GONE;
    await check([first, second]);
    expect((await rejection(check([first]))).code).to.equal("NODE_UNREACHABLE");
    second.answers["eth_chainId"] = "0x1";
    expect((await rejection(check([first, second]))).code).to.equal("WRONG_CHAIN");
    first.answers["eth_chainId"] = "0x7a69";
    expect((await rejection(check([first, second]))).code).to.equal("WRONG_CHAIN");
  });

  it("uses only nodes of the requested chain", async () => {
    first.answers = { eth_chainId: "0x1", eth_getBalance: "0x5" };
    second.answers["eth_getBalance"] = "0x6";
    expect(await reader([first, second]).balance(HASH)).to.equal(6n);
    expect(first.asked).to.deep.equal(["eth_chainId"]);
    for (const answer of ["0x1", "31337", null, "0x"]) {
      first.answers["eth_chainId"] = answer;
      const error = await rejection(reader([first]).balance(HASH));
      expect(error, String(answer)).to.include({ code: "WRONG_CHAIN" });
      expect(error.message).to.contain(first.name).and.not.to.contain("secret-key");
    }
  });

  it("reports WRONG_CHAIN only if every node is on another chain", async () => {
    first.answers["eth_chainId"] = "0x1";
    second.answers["eth_chainId"] = GONE;
    for (const order of [
      [first, second],
      [second, first],
    ] as const)
      expect(await rejection(reader(order).balance(ADDRESS))).to.include({ code: "NODE_UNREACHABLE" });
    second.answers["eth_chainId"] = "0x2";
    expect(await rejection(reader([first, second]).balance(ADDRESS))).to.include({ code: "WRONG_CHAIN" });
  });

  it("checks each node's chain id once a minute, and after a fault", async () => {
    first.answers["eth_getBalance"] = "0x5";
    const chain = reader([first]);
    await chain.balance(ADDRESS);
    time += 59_999;
    await chain.balance(ADDRESS);
    expect(first.count("eth_chainId")).to.equal(1);
    time += 1;
    await chain.balance(ADDRESS);
    expect(first.count("eth_chainId")).to.equal(2);
    first.answers["eth_getBalance"] = GONE;
    await rejection(chain.balance(ADDRESS));
    first.answers = { eth_chainId: "0x1", eth_getBalance: "0x5" };
    expect(await rejection(chain.balance(ADDRESS))).to.include({ code: "WRONG_CHAIN" });
  });

  it("keeps a node's position in the order if it does not support a method", async () => {
    first.answers["eth_maxPriorityFeePerGas"] = rpcError("the method does not exist", -32601);
    first.answers["eth_getBalance"] = "0x5";
    second.answers = { ...second.answers, eth_maxPriorityFeePerGas: "0x7", eth_getBalance: "0x6" };
    const chain = reader([first, second]);
    expect(await chain.priorityFee()).to.equal(7n);
    expect(await chain.balance(ADDRESS)).to.equal(5n);
  });

  it("logs only the hosts of its nodes", async () => {
    const log: object[] = [];
    first.answers["eth_getBalance"] = rpcError("no such key: secret-key");
    second.answers["eth_getBalance"] = "0x5";
    const chain = reader([first, second], {
      log: { warn: (fields, message) => void log.push({ ...fields, message }) },
    });
    await chain.balance(ADDRESS);
    expect(log).to.deep.equal([
      {
        node: first.name,
        code: "NODE_ERROR",
        pause: 500,
        message: `${first.name} responded to eth_getBalance with error -32000`,
      },
    ]);
  });

  it("returns the newest block of all nodes at first, and the newest block seen while a node lags", async () => {
    first.answers["eth_getBlockByNumber"] = block(8);
    second.answers["eth_getBlockByNumber"] = block(11);
    const chain = reader([first, second]);
    expect((await chain.head()).number).to.equal(11);
    // The first node is used last, because it was behind.
    const asked = first.asked.length;
    second.answers["eth_getBlockByNumber"] = block(12);
    expect((await chain.head()).number).to.equal(12);
    expect(first.asked.length).to.equal(asked);
    second.answers["eth_getBlockByNumber"] = block(7);
    expect((await chain.head()).number).to.equal(12);
    // All nodes agree, so the chain was reorganized.
    while ((await chain.head()).number !== 8) await new Promise(setImmediate);
  });

  it("notices that the first node has stopped at a block, although it never returned a newer one", async () => {
    first.answers["eth_getBlockByNumber"] = block(10);
    second.answers["eth_getBlockByNumber"] = block(10);
    const chain = reader([first, second]);
    await chain.head();
    second.answers["eth_getBlockByNumber"] = block(60);
    time += 2_999;
    expect((await chain.head()).number).to.equal(10);
    const compared = second.asked.length;
    await new Promise(setImmediate);
    expect(second.asked.length).to.equal(compared);
    time += 1;
    while ((await chain.head()).number !== 60) await new Promise(setImmediate);
  });

  it("uses a node that is behind last until it has caught up, and pauses it longer each time", async () => {
    const pauses: unknown[] = [];
    const log = { warn: (fields: object) => void pauses.push((fields as { pause: unknown }).pause) };
    Object.assign(first.answers, { eth_getBlockByNumber: block(10), eth_getBalance: "0x5" });
    Object.assign(second.answers, { eth_getBlockByNumber: block(60), eth_getBalance: "0x6" });
    const chain = reader([first, second], { log });
    for (let compared = 0; compared < 20; compared += 1) {
      await chain.newest();
      for (let asked = 0; asked < 3; asked += 1) expect(await chain.balance(ADDRESS)).to.equal(6n);
      time += 3_000;
    }
    expect(pauses).to.deep.equal([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000]);
    first.answers["eth_getBlockByNumber"] = block(61);
    await chain.newest();
    time += 30_000;
    expect(await chain.balance(ADDRESS)).to.equal(5n);
  });

  it("shows the requests and faults of each node, and which are paused, chosen and behind", async () => {
    Object.assign(first.answers, { eth_getBlockByNumber: block(10), eth_getBalance: rpcError("no key: secret-key") });
    Object.assign(second.answers, { eth_getBlockByNumber: block(60), eth_getBalance: "0x6" });
    const chain = reader([first, second]);
    const status = () => chain.nodes.map(({ seconds: _, ...shown }) => shown);
    const none = { NODE_UNREACHABLE: 0, NODE_ERROR: 0, NODE_INCONSISTENT: 0, WRONG_CHAIN: 0 };
    const fresh = { requests: 0, faults: none, paused: false, chosen: false, lag: undefined };
    expect(status()).to.deep.equal([
      { ...fresh, host: first.name, chosen: true },
      { ...fresh, host: second.name },
    ]);
    await Promise.all([chain.balance(ADDRESS), chain.balance(ADDRESS), chain.balance(ADDRESS)]);
    // Each asked for the chain id first.
    expect(status()).to.deep.equal([
      { ...fresh, host: first.name, requests: 6, faults: { ...none, NODE_ERROR: 3 }, paused: true },
      { ...fresh, host: second.name, requests: 6, chosen: true },
    ]);
    expect(chain.nodes.every(({ seconds }) => seconds > 0)).to.equal(true);
    await chain.newest();
    expect(chain.nodes.map(({ lag }) => lag)).to.deep.equal([50, 0]);
    time += 600_000;
    // It is behind until a comparison finds that it is not.
    expect(chain.nodes.map(({ paused }) => paused)).to.deep.equal([true, false]);
    expect(chain.nodes[0]?.faults["NODE_INCONSISTENT"]).to.equal(1);
    expect(JSON.stringify(chain.nodes)).to.not.contain("secret-key");
  });

  it("forgets how far a node was behind as soon as it does not respond to a comparison", async () => {
    first.answers["eth_getBlockByNumber"] = block(10);
    second.answers["eth_getBlockByNumber"] = block(60);
    const chain = reader([first, second]);
    await chain.newest();
    expect(chain.nodes.map(({ lag }) => lag)).to.deep.equal([50, 0]);
    first.answers["eth_getBlockByNumber"] = GONE;
    await chain.newest();
    expect(chain.nodes.map(({ lag, paused }) => ({ lag, paused }))).to.deep.equal([
      { lag: undefined, paused: true },
      { lag: 0, paused: false },
    ]);
    second.answers["eth_getBlockByNumber"] = GONE;
    await rejection(chain.newest());
    expect(chain.nodes.map(({ lag }) => lag)).to.deep.equal([undefined, undefined]);
  });

  it("uses a node that is behind if the others fail", async () => {
    Object.assign(first.answers, { eth_getBlockByNumber: block(10), eth_getBalance: "0x5" });
    Object.assign(second.answers, { eth_getBlockByNumber: block(60) });
    const chain = reader([first, second]);
    await chain.newest();
    expect(await chain.balance(ADDRESS)).to.equal(5n);
  });

  it("pauses a node that fails at some requests only longer each time, and briefly again once it works", async () => {
    const pauses: unknown[] = [];
    const log = { warn: (fields: object) => void pauses.push((fields as { pause: unknown }).pause) };
    Object.assign(first.answers, { eth_getBalance: "0x5", eth_call: rpcError("missing trie node") });
    Object.assign(second.answers, { eth_getBalance: "0x6", eth_call: "0x05" });
    const chain = reader([first, second], { log });
    for (const pause of [500, 1_000, 2_000]) {
      expect(await chain.balance(ADDRESS)).to.equal(5n);
      expect(await chain.call(CALL)).to.equal("0x05");
      expect(await chain.balance(ADDRESS)).to.equal(6n);
      expect(pauses.at(-1)).to.equal(pause);
      time += pause;
    }
    time += 10_000;
    expect(await chain.balance(ADDRESS)).to.equal(5n);
    await chain.call(CALL);
    expect(pauses).to.deep.equal([500, 1_000, 2_000, 500]);
  });

  it("reports a node that cannot be asked rather than the contradiction of another", async () => {
    const inconsistent = (node: ChainNode) => Promise.reject(node.inconsistent("has no contract"));
    const ask = (chain: Chain) =>
      chain.useNode((node) => (node.name === first.name ? node.balance(ADDRESS) : inconsistent(node)));
    for (const order of [
      [first, second],
      [second, first],
    ] as const)
      expect(await rejection(ask(reader(order)))).to.include({ code: "NODE_UNREACHABLE" });
    // Control: every node contradicts.
    expect(await rejection(reader([first, second]).useNode(inconsistent))).to.include({ code: "NODE_INCONSISTENT" });
  });

  it("returns a block immediately if the first node lags and the second hangs", async () => {
    first.answers["eth_getBlockByNumber"] = block(10);
    second.answers["eth_getBlockByNumber"] = HANG;
    const { timeout } = AbortSignal;
    const up = new AbortController();
    try {
      const chain = reader([first, second]);
      await chain.head();
      first.answers["eth_getBlockByNumber"] = block(9);
      expect((await chain.head()).number).to.equal(10);
      // The next timer to fire is the timeout of the request that hangs.
      while (!second.asked.includes("eth_chainId")) await new Promise(setImmediate);
      AbortSignal.timeout = () => up.signal;
      while (!second.asked.includes("eth_getBlockByNumber")) await new Promise(setImmediate);
      AbortSignal.timeout = timeout;
      for (let asked = 0; asked < 3; asked += 1) expect((await chain.head()).number).to.equal(10);
      up.abort(new DOMException("its time is up", "TimeoutError"));
      // No other node contradicts the first one, so it is trusted.
      while ((await chain.head()).number !== 9) await new Promise(setImmediate);
    } finally {
      AbortSignal.timeout = timeout;
    }
  });

  it("accepts an older head immediately if it has only one node", async () => {
    first.answers["eth_getBlockByNumber"] = block(10);
    const chain = reader([first]);
    await chain.head();
    first.answers["eth_getBlockByNumber"] = block(8);
    expect((await chain.head()).number).to.equal(8);
  });

  it("asks no other node after a revert, because every node would return the same", async () => {
    first.answers["eth_call"] = rpcError("execution reverted", 3, "0x09bde339");
    const error = await rejection(reader([first, second]).call(CALL));
    expect(error).to.include({ code: "CALL_REVERTED", data: "0x09bde339" });
    expect(second.asked).to.deep.equal([]);
  });

  it("names a chain id that is not a hexadecimal quantity, such as a decimal one", async () => {
    for (const chainId of ["31337", 31337, "0x", null]) {
      first.answers["eth_chainId"] = chainId;
      const error = await rejection(reader([first]).balance(ADDRESS));
      expect(error).to.include({ code: "WRONG_CHAIN" });
      expect(error.message).to.include("is not a hexadecimal quantity, expected 31337, 0x7a69");
    }
    // Leading zeros are no quantity either, but its value is clear.
    first.answers = { ...first.answers, eth_chainId: "0x007a69", eth_getBalance: "0x05" };
    expect(await reader([first]).balance(ADDRESS)).to.equal(5n);
  });

  it("asks no other node after an estimate fails for lack of funds", async () => {
    first.answers = { ...first.answers, eth_getBalance: "0x5" };
    const chain = reader([first, second]);
    for (const text of ["insufficient funds for gas * price + value", "insufficient balance for transfer"]) {
      first.answers["eth_estimateGas"] = rpcError(text);
      expect(await rejection(chain.estimateGas(CALL)), text).to.include({ code: "SENDER_UNFUNDED" });
    }
    expect(await chain.balance(ADDRESS)).to.equal(5n);
    expect(second.asked).to.deep.equal([]);
  });

  it("never sends a transaction request twice, to the same node or to another", async () => {
    for (const method of ["eth_sendTransaction", "eth_sendRawTransaction"]) {
      Object.assign(first.answers, { [method]: GONE });
      Object.assign(second.answers, { [method]: HASH });
      const error = await rejection(reader([first, second], { retries: 2 }).request(method, []));
      expect(error).to.include({ code: "NODE_UNREACHABLE" });
      expect([first.count(method), second.count(method)]).to.deep.equal([1, 0]);
    }
    first.answers["eth_chainId"] = GONE;
    expect(await reader([first, second]).request("eth_sendTransaction", [])).to.equal(HASH);
  });

  it("asks no other node after an error thrown by the program itself", async () => {
    const own = new Error("own");
    const error = await anyRejection(
      reader([first, second]).useNode(async () => {
        throw own;
      }),
    );
    expect(error).to.equal(own);
    expect(second.asked).to.deep.equal([]);
  });

  describe("with logs of block ranges", () => {
    const logs = (from: number, to: number) => (view: ChainNode) => view.logs({ address: ADDRESS, from, to });
    const TOO_MANY = rpcError("query exceeds max block range 1000", -32602);

    it("fails over if a node refuses the range, and still tries that node first for other requests", async () => {
      first.answers = { ...first.answers, eth_getLogs: TOO_MANY, eth_getBalance: "0x5" };
      second.answers["eth_getLogs"] = [];
      const chain = reader([first, second]);
      expect(await chain.useNode(logs(1, 5_000))).to.deep.equal([]);
      expect(await chain.balance(ADDRESS)).to.equal(5n);
    });

    it("fails with RANGE_TOO_LARGE if every node refuses, with any message, or with NODE_ERROR for a single block", async () => {
      first.answers["eth_getLogs"] = TOO_MANY;
      second.answers["eth_getLogs"] = rpcError("please buy a larger plan", -32001);
      const chain = reader([first, second]);
      expect(await rejection(chain.useNode(logs(1, 2)))).to.include({ code: "RANGE_TOO_LARGE" });
      expect(await rejection(chain.useNode(logs(2, 2)))).to.include({ code: "NODE_ERROR" });
    });

    it("fails with RANGE_TOO_LARGE immediately if the other node is paused after a fault", async () => {
      first.answers = { ...first.answers, eth_getLogs: TOO_MANY, eth_getBalance: "0x5" };
      const chain = reader([second, first]);
      await chain.balance(ADDRESS);
      const asked = second.asked.length;
      expect(await rejection(chain.useNode(logs(1, 2)))).to.include({ code: "RANGE_TOO_LARGE" });
      expect(second.asked.length).to.equal(asked);
    });
  });

  describe("with an acceptance condition", () => {
    const ask = (chain: Chain) =>
      chain.useNode(
        (view) => view.receipt(HASH),
        (found) => found !== undefined,
      );

    it("asks nodes until a result is accepted, and returns the last result if all of them responded", async () => {
      first.answers["eth_getTransactionReceipt"] = null;
      second.answers["eth_getTransactionReceipt"] = receipt(HASH);
      expect(await ask(reader([first, second]))).to.include({ blockNumber: 7 });
      second.answers["eth_getTransactionReceipt"] = null;
      expect(await ask(reader([first, second]))).to.equal(undefined);
      expect(second.count("eth_getTransactionReceipt")).to.equal(2);
    });

    it("throws the fault if no result is accepted and a node failed", async () => {
      first.answers["eth_getTransactionReceipt"] = null;
      for (const order of [
        [first, second],
        [second, first],
      ] as const)
        expect(await rejection(ask(reader(order)))).to.include({ code: "NODE_UNREACHABLE" });
      second.answers["eth_getTransactionReceipt"] = rpcError("Unauthorized");
      expect(await rejection(ask(reader([first, second])))).to.include({ code: "NODE_ERROR" });
    });
  });

  it("rejects malformed results", async () => {
    const cases: [string, unknown, (chain: Chain) => Promise<unknown>][] = [
      ["eth_getBalance", 5, (chain) => chain.balance(HASH)],
      ["eth_getBalance", "five", (chain) => chain.balance(HASH)],
      ["eth_getTransactionCount", null, (chain) => chain.transactionCount(HASH)],
      ["eth_call", "0x123", (chain) => chain.call(CALL)],
      ["eth_getBlockByNumber", { ...block(1), hash: "0x11" }, (chain) => chain.head()],
      ["eth_getBlockByNumber", block(7), (chain) => chain.block(6)],
      ["eth_getTransactionReceipt", { blockHash: HASH, logs: {} }, (chain) => chain.receipt(HASH)],
      ["eth_getTransactionReceipt", receipt(`0x${"33".repeat(32)}`), (chain) => chain.receipt(HASH)],
      ["eth_getTransactionReceipt", [], (chain) => chain.receipt(HASH)],
    ];
    for (const [method, answer, ask] of cases) {
      first.answers = { eth_chainId: "0x7a69", [method]: answer };
      const error = await rejection(ask(reader([first])));
      expect(error, method).to.be.instanceOf(ChainError);
      expect(["NODE_ERROR", "NODE_INCONSISTENT"]).to.include(error.code);
    }
  });

  it("requires http URLs without user and password", () => {
    for (const url of ["", "ws://127.0.0.1", "nothing", "http://user:secret@127.0.0.1:8545"]) {
      const open = () => connectChain({ urls: [url], chainId: 1n });
      expect(open).to.throw(ChainError, "http").with.property("code", "INVALID_OPTION");
      expect(open).not.to.throw("secret");
    }
    expect(() => connectChain({ urls: [], chainId: 1n })).to.throw(ChainError, "at least one");
  });
});
