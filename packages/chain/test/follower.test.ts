import { firstOf } from "@sotto/test-kit/first-of";
import { anyRejection, rejection } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import {
  ChainError,
  type ChainSource,
  connectChain,
  type FollowerOptions,
  isNodeFault,
  PoolFollower,
} from "../src/index.ts";
import { MemoryChain, nodeOf, POOL } from "./support/memory-chain.ts";
import { MemorySink } from "./support/memory-sink.ts";
import { TestNode } from "./support/node.ts";

const follow = (chain: ChainSource, options: Partial<FollowerOptions> = {}) =>
  new PoolFollower({ chain, pool: POOL, deploymentBlock: 0, rangeSize: 10, canReset: true, ...options });

/** A source with several nodes. An action uses the first node that is not at fault, a single request the last node. */
const nodesOf = (...nodes: ChainSource[]): ChainSource => ({ ...nodes.at(-1)!, useNode: firstOf(nodes, isNodeFault) });

const unreachable = () => Promise.reject(new ChainError("NODE_UNREACHABLE", "the node does not answer"));

describe("PoolFollower", () => {
  let chain: MemoryChain;
  let sink: MemorySink;
  beforeEach(() => {
    chain = new MemoryChain(5);
    chain.mine(2, 0, 1, ...Array<number>(16).fill(0), 3);
    sink = new MemorySink();
  });

  /** Checks that the sink has the events of the whole chain, in pages without a gap. */
  function expectComplete(): void {
    expectAllLeaves();
    for (const [i, { from }] of sink.pages.entries()) expect(from).to.equal((sink.pages[i - 1]?.to ?? -1) + 1);
    expect(sink.pages.at(-1)).to.include({ to: chain.blocks.length - 1, hash: chain.blocks.at(-1)!.hash });
  }

  function expectAllLeaves(): void {
    expect(sink.leaves).to.deep.equal(Array.from({ length: chain.size }, (_, i) => BigInt(100 + i)));
  }

  it("reads the chain in ranges, then only new blocks", async () => {
    const follower = follow(chain);
    expect(await follower.catchUp(sink)).to.deep.equal({ head: await chain.head(), rolledBackTo: undefined });
    expect(sink.ranges).to.deep.equal([
      [0, 9],
      [10, 19],
      [20, 24],
    ]);
    expect(sink.pages.map(({ start }) => start.leaves)).to.deep.equal([0, 3, 3]);
    await follower.catchUp(sink);
    chain.mine(1);
    await follower.catchUp(sink);
    expect(chain.asked.slice(3)).to.deep.equal([[25, 25]]);
    expectComplete();
  });

  it("starts at the pool's deployment, and refuses a node that has not reached that block", async () => {
    await follow(chain, { deploymentBlock: 3 }).catchUp(sink);
    expect(sink.ranges[0]).to.deep.equal([3, 12]);
    const behind = follow(chain, { deploymentBlock: 25 });
    expect(await rejection(behind.catchUp(sink))).to.include({ code: "NODE_INCONSISTENT" });
    expect(sink.rollbacks).to.deep.equal([]);
  });

  it("never stores final and other blocks in one page", async () => {
    await follow(chain, { rangeSize: 100, finality: 6 }).catchUp(sink);
    expect(sink.ranges).to.deep.equal([
      [0, 18],
      [19, 24],
    ]);
  });

  it("resumes after an abort", async () => {
    const stop = new AbortController();
    sink.beforeAdd = () => stop.abort();
    const follower = follow(chain);
    expect(await anyRejection(follower.catchUp(sink, stop.signal))).to.include({ name: "AbortError" });
    expect(sink.ranges).to.deep.equal([[0, 9]]);
    await follower.catchUp(sink);
    expect(chain.asked).to.deep.equal([
      [0, 9],
      [10, 19],
      [20, 24],
    ]);
    expectComplete();
  });

  it("resumes after the process died at any page", async () => {
    for (let deaths = 0; deaths < 3; deaths += 1) {
      sink.beforeAdd = () => {
        if (sink.pages.length >= deaths) throw new Error("the process died");
      };
      expect((await anyRejection(follow(chain).catchUp(sink))).message).to.equal("the process died");
      expect(sink.pages).to.have.length(deaths);
    }
    sink.beforeAdd = () => undefined;
    await follow(chain).catchUp(sink);
    expectComplete();
  });

  describe("on a reorganization", () => {
    it("rolls back to the newest known block that is still on the chain", async () => {
      const follower = follow(chain);
      await follower.catchUp(sink);
      chain.takeBack(3);
      chain.mine(1, 4);
      expect(await follower.catchUp(sink)).to.include({ rolledBackTo: 19 });
      expect(await follower.catchUp(sink)).to.include({ rolledBackTo: undefined });
      expectComplete();
    });

    it("follows a node that falls back to a shorter chain", async () => {
      const follower = follow(chain);
      await follower.catchUp(sink);
      chain.takeBack(8);
      expect(await follower.catchUp(sink)).to.include({ rolledBackTo: 9 });
      expectComplete();
    });

    it("restarts if the chain changes while a range is read", async () => {
      let left = 2;
      chain.beforeLogs = () => {
        if (left-- <= 0) return;
        chain.takeBack(3);
        chain.mine(1, 0, 2);
      };
      await follow(chain, { rangeSize: 100 }).catchUp(sink);
      expect(chain.asked).to.have.length(3);
      expectComplete();
    });

    it("restarts if the chain changes between two ranges, and reports the rollback", async () => {
      let left = 1;
      sink.beforeAdd = ({ from }) => {
        if (from !== 10 || left-- <= 0) return;
        chain.takeBack(20);
        chain.mine(...Array<number>(20).fill(1));
      };
      expect(await follow(chain).catchUp(sink)).to.include({ rolledBackTo: -1 });
      expect(sink.rollbacks).to.deep.equal([-1]);
      expectComplete();
    });

    it("fails after five restarts if the chain keeps changing", async () => {
      chain.beforeLogs = () => {
        chain.takeBack(1);
        chain.mine(0);
      };
      const error = await rejection(follow(chain, { rangeSize: 100 }).catchUp(sink));
      expect(error).to.include({ code: "NODE_INCONSISTENT" });
      expect(error.message).to.include("kept changing");
      expect(chain.asked).to.have.length(6);
      expect(sink.pages).to.deep.equal([]);
    });

    it("resets the sink if no known block is left, or fails if that is not allowed", async () => {
      await follow(chain, { deploymentBlock: 3 }).catchUp(sink);
      const before = sink.leaves;
      chain.takeBack(23);
      chain.mine(...Array<number>(30).fill(0), 1);
      const refusing = follow(chain, { deploymentBlock: 3, canReset: false });
      expect(await rejection(refusing.catchUp(sink))).to.include({ code: "NODE_INCONSISTENT" });
      expect(sink.leaves).to.deep.equal(before);
      const resetting = follow(chain, { deploymentBlock: 3 });
      expect(await resetting.catchUp(sink)).to.include({ rolledBackTo: 2 });
      expect(sink.leaves).to.deep.equal([100n]);
    });

    it("reports a rollback even if the catch-up after it fails and a later one succeeds", async () => {
      const follower = follow(chain);
      await follower.catchUp(sink);
      chain.takeBack(1);
      chain.mine(0, 1);
      sink.beforeAdd = () => {
        throw new Error("the disk is full");
      };
      expect((await anyRejection(follower.catchUp(sink))).message).to.equal("the disk is full");
      sink.beforeAdd = () => undefined;
      expect(await follower.catchUp(sink)).to.include({ rolledBackTo: 19 });
    });

    it("rolls back only a few blocks if the sink keeps the anchors", async () => {
      const blocks: { number: number; hash: string }[] = [];
      sink.beforeAdd = ({ anchors }) => blocks.unshift(...anchors.toReversed());
      sink.known = async () => blocks;
      sink.rollBack = async (to) => void sink.rollbacks.push(to);
      const follower = follow(chain, { rangeSize: 100, anchors: true });
      await follower.catchUp(sink);
      expect(blocks.map(({ number }) => number).reverse()).to.deep.equal([5, 7, 8, 16, 20, 22, 23, 24]);
      chain.takeBack(2);
      chain.mine(0, 0, 0);
      expect(await follower.catchUp(sink)).to.include({ rolledBackTo: 22 });
    });
  });

  describe("with a faulty node", () => {
    it("asks another node if one lags behind", async () => {
      const lagging = nodeOf(chain, { block: async (number) => (number > 20 ? undefined : chain.block(number)) });
      await follow(nodesOf(lagging, nodeOf(chain)), { rangeSize: 100 }).catchUp(sink);
      expectComplete();
      expect(sink.rollbacks).to.deep.equal([]);
    });

    it("asks another node if one has not reached the pool's deployment", async () => {
      const behind = nodeOf(chain, { head: async () => (await chain.block(2))! });
      const nodes = nodesOf(behind, nodeOf(chain));
      nodes.head = behind.head;
      const follower = follow(nodes, { deploymentBlock: 3 });
      expect((await follower.catchUp(sink)).head).to.deep.equal(await chain.head());
      expectAllLeaves();
    });

    it("keeps the pages of a longer chain if the first node is behind", async () => {
      await follow(chain).catchUp(sink);
      const shorter = (height: number) =>
        nodeOf(chain, {
          head: async () => (await chain.block(height))!,
          block: async (number) => (number > height ? undefined : chain.block(number)),
        });
      for (const height of [22, 12]) {
        const nodes = nodesOf(shorter(height), nodeOf(chain));
        nodes.head = shorter(height).head;
        await follow(nodes).catchUp(sink);
        expect(sink.rollbacks).to.deep.equal([]);
      }
      chain.mine(1);
      await follow(nodesOf(shorter(12), nodeOf(chain))).catchUp(sink);
      expect(sink.rollbacks).to.deep.equal([]);
      expectComplete();
    });

    it("rolls nothing back if every node is behind and the sink cannot be reset, but follows a shorter fork", async () => {
      const options = { canReset: false };
      await follow(chain, options).catchUp(sink);
      const { length } = chain.blocks;
      const missing = chain.blocks.slice(-8);
      chain.takeBack(8);
      const down = nodeOf(chain, { block: unreachable });
      for (const nodes of [chain, nodesOf(down, nodeOf(chain))]) {
        const error = await rejection(follow(nodes, options).catchUp(sink));
        expect(error.code).to.equal("NODE_INCONSISTENT");
        expect(error.message).to.match(/ is at block 16, but was read up to block 24$/);
      }
      expect(sink.rollbacks).to.deep.equal([]);
      chain.blocks.push(...missing);
      await follow(chain, options).catchUp(sink);
      expect(sink.rollbacks).to.deep.equal([]);
      expectComplete();
      // Control: blocks with other hashes.
      chain.takeBack(8);
      chain.mine(...Array<number>(7).fill(0));
      expect(chain.blocks.length).to.equal(length - 1);
      expect(await follow(chain, { ...options }).catchUp(sink)).to.include({ rolledBackTo: 9 });
      expectComplete();
    });

    for (const order of ["first", "last"])
      it(`follows a reorganization even if the ${order} node stays on the old fork`, async () => {
        await follow(chain).catchUp(sink);
        const old = [...chain.blocks];
        const stale = nodeOf(chain, { block: async (number) => old[number] });
        chain.takeBack(3);
        chain.mine(1, 4, 0, 0);
        const nodes = order === "first" ? [stale, nodeOf(chain)] : [nodeOf(chain), stale];
        const source = nodesOf(...nodes);
        source.head = () => chain.head();
        expect(await follow(source).catchUp(sink)).to.include({ rolledBackTo: 19 });
        expectComplete();
      });

    it("follows a reorganization during a catch-up even if another node is down", async () => {
      let left = 1;
      sink.beforeAdd = ({ from }) => {
        if (from !== 10 || left-- <= 0) return;
        chain.takeBack(20);
        chain.mine(...Array<number>(20).fill(1));
      };
      const down = nodeOf(chain, { block: unreachable, logs: unreachable });
      const source = nodesOf(nodeOf(chain), down);
      expect(await follow(source).catchUp(sink)).to.include({ rolledBackTo: -1 });
      expectComplete();
    });

    it("throws the fault of a node that is down if the other node has not reached the newest block", async () => {
      const lagging = nodeOf(chain, { block: async (number) => (number > 20 ? undefined : chain.block(number)) });
      const down = nodeOf(chain, { block: unreachable, logs: unreachable });
      const source = nodesOf(lagging, down);
      source.head = () => chain.head();
      expect(await rejection(follow(source).catchUp(sink))).to.include({ code: "NODE_UNREACHABLE" });
      expect(sink.ranges).to.deep.equal([
        [0, 9],
        [10, 19],
      ]);
    });

    it("asks another node if one omits events", async () => {
      const forgetful = nodeOf(chain, { logs: async (query) => (await chain.logs(query)).slice(1) });
      await follow(nodesOf(forgetful, nodeOf(chain))).catchUp(sink);
      expectComplete();
      expect(sink.discarded).to.equal(0);
    });

    it("discards unchecked pages if no node continues their counts", async () => {
      let lying = true;
      const node = nodeOf(chain, { logs: async (query) => (lying ? [] : chain.logs(query)) });
      const follower = follow(node);
      await follower.catchUp(sink);
      expect(sink.leaves).to.deep.equal([]);
      lying = false;
      chain.mine(1);
      expect(await rejection(follower.catchUp(sink))).to.include({ code: "NODE_INCONSISTENT" });
      expect(sink.discarded).to.equal(1);
      await follower.catchUp(sink);
      expectComplete();
    });

    it("keeps unchecked pages if a node is down, because it may have events that continue the counts", async () => {
      await follow(chain).catchUp(sink);
      const kept = sink.ranges;
      chain.mine(1, 1);
      const forgetful = nodeOf(chain, { logs: async (query) => (await chain.logs(query)).slice(1) });
      const silent = nodeOf(chain, { head: unreachable, block: unreachable, logs: unreachable });
      const busy = nodeOf(chain, { logs: unreachable });
      for (const other of [silent, busy])
        for (const nodes of [
          [other, forgetful],
          [forgetful, other],
        ]) {
          const source = nodesOf(...nodes);
          source.head = () => chain.head();
          await rejection(follow(source).catchUp(sink));
          expect(sink.discarded).to.equal(0);
        }
      expect(sink.ranges).to.deep.equal(kept);
      expect(await rejection(follow(nodesOf(forgetful, forgetful)).catchUp(sink))).to.include({
        code: "NODE_INCONSISTENT",
      });
      expect(sink.discarded).to.equal(1);
    });

    it("asks for large ranges again soon after a node refused a small one", async () => {
      const follower = follow(chain, { rangeSize: 1_000 });
      await follower.catchUp(sink);
      chain.maxRange = 1;
      chain.mine(0, 0);
      await follower.catchUp(sink);
      chain.maxRange = Number.POSITIVE_INFINITY;
      chain.asked.length = 0;
      chain.mine(...Array<number>(2_000).fill(0));
      await follower.catchUp(sink);
      expect(chain.asked).to.have.length.below(100);
      expectComplete();
    });

    it("stores nothing of a range whose counts are lower than the contract's", async () => {
      const early = nodeOf(chain, { logs: async (query) => (await chain.logs(query)).slice(0, -1) });
      const error = await rejection(follow(early, { rangeSize: 100, checkQueue: true }).catchUp(sink));
      expect(error).to.include({ code: "NODE_INCONSISTENT" });
      expect(error.message).to.include("has events for 5 queued");
      expect(sink.pages).to.deep.equal([]);
      await follow(nodesOf(early, nodeOf(chain)), { rangeSize: 100, checkQueue: true }).catchUp(sink);
      expectComplete();
    });

    it("halves ranges that the node refuses, and fails only if a single block is refused", async () => {
      chain.maxRange = 4;
      const follower = follow(chain, { rangeSize: 25 });
      await follower.catchUp(sink);
      expect(chain.asked.slice(0, 5)).to.deep.equal([
        [0, 24],
        [0, 11],
        [0, 5],
        [0, 2],
        [3, 7],
      ]);
      expectComplete();
      chain.maxRange = 0;
      chain.mine(0);
      expect(await rejection(follower.catchUp(sink))).to.include({ code: "RANGE_TOO_LARGE" });
    });

    it("shrinks a range whose logs time out, as long as the node answers other requests", async () => {
      for (const code of ["NODE_UNREACHABLE", "NODE_ERROR"] as const) {
        chain.asked.length = 0;
        sink = new MemorySink();
        let responds = true;
        const slow = nodeOf(chain, {
          head: async () => {
            if (!responds) throw new ChainError(code, "no answer");
            return chain.head();
          },
          logs: async (query) => {
            const logs = await chain.logs(query);
            if (query.to > query.from + 3) throw new ChainError(code, "no answer");
            return logs;
          },
        });
        const follower = follow(slow, { rangeSize: 25 });
        await follower.catchUp(sink);
        expect(chain.asked.slice(0, 3), code).to.deep.equal([
          [0, 24],
          [0, 2],
          [3, 5],
        ]);
        expectComplete();
        responds = false;
        const known = chain.asked.length;
        expect(await rejection(follow(slow, { rangeSize: 25 }).catchUp(new MemorySink()))).to.include({ code });
        expect(chain.asked).to.have.length(known);
      }
    });
  });

  it("returns the same newest block as its chain, including the base fee", async () => {
    const hash = `0x${"77".repeat(32)}`;
    const node = await TestNode.start({
      eth_chainId: "0x1",
      eth_getBlockByNumber: { number: "0x2", hash, timestamp: "0x3", baseFeePerGas: "0x9" },
      eth_getLogs: [],
    });
    const follower = new PoolFollower({
      chain: connectChain({ urls: [node.url], chainId: 1n }),
      pool: POOL,
      deploymentBlock: 2,
      rangeSize: 10,
      canReset: false,
    });
    const { head } = await follower.catchUp(sink);
    expect(head.baseFee).to.equal(9n);
    await node.stop();
  });
});
