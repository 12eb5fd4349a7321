// Nodes that lie, lag, hang or are unreachable. test/resource-server tests real payments on a real chain.

import { keccak_256 } from "@noble/hashes/sha3.js";
import { connectChain } from "@sotto/chain";
import { emptyRoots, TREE_DEPTH } from "@sotto/protocol";
import { HANG, Raw, type ScriptedNode, startScriptedNode } from "@sotto/test-kit/scripted-node";
import { expect } from "chai";
import { Settlements } from "../src/checks/settlement.ts";
import { readPoolToken } from "../src/paywall/pool-token.ts";
import { toHex } from "./support/hex.ts";

const POOL = `0x${"11".repeat(20)}` as const;
const DIGEST = `0x${"22".repeat(32)}`;
/** Timeout of one request; generous, so that a slow machine does not exceed it. */
const PATIENCE_MS = 120_000;
const ZERO = `0x${"00".repeat(32)}`;
const TX = `0x${"33".repeat(32)}`;
const NULLIFIER = 77n;
const hash = (text: string): string => `0x${Buffer.from(keccak_256(Buffer.from(text))).toString("hex")}`;
const SETTLED = hash(`Settled(uint256,bytes32${",uint256".repeat(7)})`);
const selector = (signature: string): string => hash(signature).slice(0, 10);
const SPENT_BY = selector("spentBy(uint256)");

describe("nodes", () => {
  const opened: ScriptedNode[] = [];
  let now = 1_000_000;
  afterEach(() => {
    for (const node of opened.splice(0)) node.close();
  });

  async function start(answers: Record<string, unknown> = {}): Promise<ScriptedNode> {
    const spent = { eth_call: DIGEST, eth_getTransactionReceipt: null };
    const node = await startScriptedNode({ eth_chainId: "0x7a69", eth_blockNumber: "0x10", ...spent, ...answers });
    opened.push(node);
    return node;
  }
  const nodes = (...urls: string[]) =>
    connectChain({ urls, chainId: 31337n, timeoutMs: PATIENCE_MS, maxResponseBytes: 4 << 20, clock: () => now });

  /** The failure of a payment; undefined if it is settled. */
  function found(urls: readonly string[], confirmations = 1, validUntil = now / 1000 + 60): Promise<unknown> {
    const limits = { confirmations, blockTimeMs: 1_000, waitMs: 0, clock: () => now };
    const settlements = new Settlements({ chain: nodes(...urls), pool: POOL, ...limits });
    const payment = { nullifier: NULLIFIER, digest: DIGEST, txSignature: TX, validUntil: BigInt(validUntil) };
    return settlements.find(payment).then(
      ({ settledThere }) => (settledThere ? "there" : "elsewhere"),
      ({ failure, code, retryAfter }) => `${failure ?? code} ${retryAfter}`,
    );
  }

  const gone = "http://127.0.0.1:9";

  it("are skipped if unreachable", async () => {
    const node = await start();
    expect(await found([gone, node.url])).to.equal("elsewhere");
  });

  it("are skipped after a timeout", async () => {
    const [hanging, node] = [await start({ eth_chainId: HANG }), await start()];
    const { timeout } = AbortSignal;
    const up = new AbortController();
    AbortSignal.timeout = (ms) => {
      expect(ms).to.equal(PATIENCE_MS);
      AbortSignal.timeout = timeout;
      return up.signal;
    };
    try {
      const looking = found([hanging.url, node.url]);
      while (hanging.methods.length === 0) await new Promise(setImmediate);
      expect(node.methods).to.deep.equal([]);
      up.abort(new DOMException("its time is up", "TimeoutError"));
      expect(await looking).to.equal("elsewhere");
    } finally {
      AbortSignal.timeout = timeout;
    }
  });

  it("are skipped if they answer with errors that do not come from the chain", async () => {
    const node = await start();
    for (const message of ["Unauthorized", "daily request count exceeded", "internal error", "state is pruned"]) {
      const error = `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"${message}"}}`;
      const faulty = await start({ eth_call: new Raw(error), eth_getTransactionReceipt: new Raw(error) });
      expect(await found([faulty.url, node.url]), message).to.equal("elsewhere");
      expect(await found([faulty.url]), message).to.equal("CHAIN_UNAVAILABLE 5");
    }
  });

  it("that fail at the start do not cause a pool mismatch", async () => {
    const emptyRoot = toHex(emptyRoots()[TREE_DEPTH]!);
    const view = ([call]: [{ data: string }]) => (call.data === selector("EMPTY_ROOT()") ? emptyRoot : toHex(6n));
    const healthy = await start({ eth_getCode: "0x60", eth_call: view });
    const error = (message: string) =>
      new Raw(`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"${message}"}}`);
    const code = (...urls: string[]) =>
      readPoolToken(nodes(...urls), POOL).then(
        ({ decimals }) => decimals,
        (error: { code: unknown }) => error.code,
      );
    const faulty = await start({ eth_getCode: "0x60", eth_call: error("Unauthorized") });
    expect(await code(faulty.url, healthy.url)).to.equal(6);
    expect(await code(faulty.url)).to.equal("CHAIN_UNAVAILABLE");
    // This error comes from the chain itself: another contract.
    const other = await start({ eth_getCode: "0x60", eth_call: error("execution reverted") });
    expect(await code(other.url, healthy.url)).to.equal("POOL_MISMATCH");
    // A node that is behind may not have the contract yet, but if no node has it, there is none.
    const behind = await start({ eth_getCode: "0x", eth_call: view });
    expect(await code(behind.url, healthy.url)).to.equal(6);
    expect(await code(behind.url)).to.equal("POOL_MISMATCH");
    // No ShieldedPool returns this: the node is faulty, unless all nodes agree.
    for (const answer of ["0x", toHex(6n)]) {
      const other = await start({ eth_getCode: "0x60", eth_call: answer });
      expect(await code(other.url), answer).to.equal("POOL_MISMATCH");
    }
    const short = await start({ eth_getCode: "0x60", eth_call: "0x" });
    expect(await code(short.url, healthy.url)).to.equal(6);
  });

  it("leave a payment undecided if all are unreachable or faulty", async () => {
    const long = `{"jsonrpc":"2.0","id":1,"result":"${DIGEST}"}${" ".repeat(5_000_000)}`;
    const wrong = [
      ...[
        gone,
        (await start({ eth_call: new Raw("no JSON") })).url,
        (await start({ eth_call: new Raw("{}", 502) })).url,
      ],
      (await start({ eth_call: new Raw(`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"pruned"}}`) })).url,
      ...[
        (await start({ eth_call: 7 })).url,
        (await start({ eth_call: "0x" })).url,
        (await start({ eth_call: "0x01" })).url,
      ],
      ...[(await start({ eth_blockNumber: "16" })).url, (await start({ eth_blockNumber: `0x${"f".repeat(16)}` })).url],
      (await start({ eth_getTransactionReceipt: { blockNumber: "0x1" } })).url,
      (await start({ eth_call: new Raw(long) })).url,
    ];
    for (const url of wrong) expect(await found([url]), url).to.equal("CHAIN_UNAVAILABLE 5");
  });

  it("of another chain are rejected", async () => {
    const foreign = await start({ eth_chainId: "0x1" });
    expect(await found([foreign.url])).to.equal("CHAIN_UNAVAILABLE 5");
    expect(foreign.methods).to.deep.equal(["eth_chainId"]);
    expect(await found([foreign.url, (await start()).url])).to.equal("elsewhere");
  });

  it("are all asked before a payment counts as missing, because some may lag", async () => {
    const lagging = await start({ eth_call: ZERO });
    expect(await found([lagging.url, (await start()).url])).to.equal("elsewhere");
    expect(await found([lagging.url, gone])).to.equal("CHAIN_UNAVAILABLE 5");
    expect(await found([lagging.url])).to.equal("NOT_SETTLED 1");
  });

  it("report a missing payment as final once no future block can contain it", async () => {
    const empty = await start({ eth_call: ZERO });
    const validUntil = now / 1000;
    expect(await found([empty.url], 1, validUntil)).to.equal("NOT_SETTLED 1");
    now += 2_001;
    expect(await found([empty.url], 1, validUntil)).to.equal("NOT_SETTLED undefined");
    now = 1_000_000;
  });

  it("are queried once at a time per payment", async () => {
    const node = await start({ eth_call: ZERO });
    const limits = { confirmations: 1, blockTimeMs: 1_000, waitMs: 400, clock: Date.now };
    const settlements = new Settlements({ chain: nodes(node.url), pool: POOL, ...limits });
    const validUntil = BigInt(Math.ceil(Date.now() / 1000) + 60);
    const payment = { nullifier: NULLIFIER, digest: DIGEST, txSignature: TX, validUntil };
    const shown = Array.from({ length: 200 }, () => settlements.find(payment).catch(({ failure }) => failure));
    const other = settlements.find({ ...payment, digest: `0x${"44".repeat(32)}` }).catch(({ failure }) => failure);
    expect(new Set(await Promise.all([...shown, other]))).to.deep.equal(new Set(["NOT_SETTLED"]));
    // Two payments with a few polls each.
    expect(node.methods.filter((method) => method === "eth_call").length).to.be.within(2, 10);
    node.answers = { ...node.answers, eth_call: DIGEST };
    const found = await Promise.all([settlements.find(payment), settlements.find(payment)]);
    expect(found).to.deep.equal([{ settledThere: false }, { settledThere: false }]);
  });

  /** A receipt in block 0x10, the newest, with the pool's event for the payment or a similar one. */
  const receipt = (changes: object = {}) => {
    const topics = [SETTLED, toHex(NULLIFIER)];
    const place = { blockNumber: "0x10", blockHash: toHex(16n), transactionHash: TX };
    const log = { ...place, logIndex: "0x0", address: POOL, topics, data: DIGEST + "00".repeat(7 * 32), ...changes };
    return { ...place, from: POOL, status: "0x1", gasUsed: "0x5208", logs: [log] };
  };

  it("find a settled payment immediately, however many missing ones are awaited", async () => {
    const node = await start({ eth_getTransactionReceipt: receipt(), eth_call: ZERO });
    // The clock does not advance, so a wait would never end.
    let now = Date.now();
    const limits = { confirmations: 1, blockTimeMs: 1_000, waitMs: 2_000, clock: () => now };
    const patient = connectChain({ urls: [node.url], chainId: 31337n, timeoutMs: PATIENCE_MS });
    const settlements = new Settlements({ chain: patient, pool: POOL, ...limits });
    const validUntil = BigInt(Math.ceil(now / 1000) + 60);
    const missing = Array.from({ length: 150 }, (_, index) => {
      const other = { nullifier: BigInt(index), digest: `0x${String(index + 1).padStart(64, "0")}` as const };
      return settlements.find({ ...other, txSignature: TX, validUntil }).catch(({ failure }) => failure);
    });
    const settled = { nullifier: 1_000n, digest: DIGEST, txSignature: TX, validUntil } as const;
    node.answers = { ...node.answers, eth_getTransactionReceipt: receipt({ topics: [SETTLED, toHex(1_000n)] }) };
    expect(await settlements.find(settled)).to.deep.equal({ settledThere: true });
    now += limits.waitMs;
    expect(new Set(await Promise.all(missing))).to.deep.equal(new Set(["NOT_SETTLED"]));
  });

  it("confirm a payment only by the pool's own event in the named transaction", async () => {
    const shown = async (changes?: object, confirmations = 1) => {
      const answers = { eth_getTransactionReceipt: receipt(changes), eth_call: ZERO };
      return found([(await start(answers)).url], confirmations);
    };
    expect(await shown()).to.equal("there");
    expect(await shown({ address: POOL.toUpperCase().replace("0X", "0x") })).to.equal("there");
    const others = [
      { address: `0x${"12".repeat(20)}` },
      { topics: [toHex(1n), toHex(NULLIFIER)] },
      { topics: [SETTLED, toHex(NULLIFIER + 1n)] },
      { topics: [SETTLED] },
      { data: `0x${"00".repeat(32)}${DIGEST.slice(2)}${"00".repeat(6 * 32)}` },
      { data: "0x" },
    ];
    for (const changes of others) expect(await shown(changes), JSON.stringify(changes)).to.equal("NOT_SETTLED 1");
    // It is one block deep.
    expect(await shown({}, 2)).to.equal("NOT_SETTLED 1");
  });

  it("are queried at the confirmed block, not at a newer one", async () => {
    const node = await start();
    expect(await found([node.url], 3)).to.equal("elsewhere");
    const call = node.params.find(([, block]) => block !== undefined && block !== "latest");
    expect(call?.[1]).to.equal("0xe");
    expect(call?.[0]).to.deep.equal({ to: POOL, data: `${SPENT_BY}${toHex(NULLIFIER).slice(2)}` });
    expect(await found([(await start({ eth_blockNumber: "0x1" })).url], 3)).to.equal("NOT_SETTLED 1");
  });
});
