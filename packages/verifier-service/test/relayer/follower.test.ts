import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { connectChain } from "@sotto/chain";
import { rejection } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { Follower } from "../../src/relayer/follower.ts";
import { openStore, type Store } from "../../src/store/index.ts";

const POOL = `0x${"11".repeat(20)}` as const;
/** Result of queue() of a pool without notes. */
const EMPTY = `0x${"00".repeat(32 * 7)}`;
const hashOf = (number: number) => `0x${number.toString(16).padStart(64, "0")}`;
const blockOf = (number: number) => ({
  number: `0x${number.toString(16)}`,
  hash: hashOf(number),
  parentHash: hashOf(number - 1),
  timestamp: `0x${(1_790_000_000 + number).toString(16)}`,
  baseFeePerGas: "0x7",
  gasLimit: "0x1c9c380",
});

describe("the service's pool follower", () => {
  const servers: Server[] = [];
  /** Number of blocks in each eth_getLogs request. */
  const ranges: number[] = [];
  let store: Store;
  beforeEach(async () => {
    store = await openStore({ url: "sqlite::memory:" });
  });
  afterEach(async () => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
    await store.close();
  });

  /** A node of Base whose newest block is `head`, without any events. */
  async function nodeAt(head: number, state = EMPTY, maxRange = 10_000): Promise<string> {
    const server = createServer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const { id, method, params } = JSON.parse(Buffer.concat(parts).toString());
      const number = params[0] === "latest" ? head : Number(params[0]);
      const answers: Record<string, () => unknown> = {
        eth_chainId: () => "0x2105",
        eth_getBlockByNumber: () => (number > head ? null : blockOf(number)),
        eth_getLogs: () => [],
        eth_call: () => state,
      };
      const { fromBlock, toBlock } = Object(params[0]) as { fromBlock?: string; toBlock?: string };
      const tooLarge = method === "eth_getLogs" && Number(toBlock) - Number(fromBlock) >= maxRange;
      ranges.push(...(method === "eth_getLogs" ? [Number(toBlock) - Number(fromBlock) + 1] : []));
      // A message that no list of known refusals contains.
      const answer = tooLarge
        ? { error: { code: -32001, message: "please choose a larger plan" } }
        : { result: answers[method]?.() };
      response.end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  const follow = async (...urls: string[]) => {
    const lease = (await store.leases.acquire("relayer", "me", 60_000))!;
    const chain = connectChain({ urls, chainId: 8453n });
    const config = { rangeSize: 1_000, reorgDepth: 128 };
    await new Follower({
      store,
      chain,
      pool: { chainId: 8453n, pool: POOL, token: POOL, deploymentBlock: 1 },
      config,
    }).catchUp(lease);
    return (await store.ledger.blocks()).map(({ number }) => number);
  };

  it("discards nothing if a node is syncing", async () => {
    const synced = await nodeAt(500);
    const blocks = await follow(synced);
    expect(blocks[0]).to.equal(500);
    const syncing = await nodeAt(5);
    expect(await rejection(follow(syncing))).to.include({ code: "NODE_INCONSISTENT" });
    expect(await follow(syncing, synced)).to.deep.equal(blocks);
  });

  it("halves a range that every node refuses, regardless of the message", async () => {
    ranges.splice(0);
    expect((await follow(await nodeAt(500, EMPTY, 100), await nodeAt(500, EMPTY, 300)))[0]).to.equal(500);
    // Both nodes refuse 500 blocks, and the second one returns 250.
    expect(ranges.slice(0, 4)).to.deep.equal([500, 500, 250, 250]);
  });

  it("skips a node with undecodable contract answers", async () => {
    for (const [head, state] of [[100, "0x"] as const, [200, EMPTY.slice(0, -2)] as const]) {
      const wrong = await nodeAt(head, state);
      expect(await rejection(follow(wrong))).to.include({ code: "NODE_INCONSISTENT" });
      expect((await follow(wrong, await nodeAt(head)))[0]).to.equal(head);
    }
  });
});
