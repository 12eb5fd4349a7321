// When a paywall takes its server's clock for wrong, and how often it asks the chain. test/resource-server shows what it
// does then.
import { connectChain } from "@sotto/chain";
import { eventually } from "@sotto/test-kit/eventually";
import { HANG, type ScriptedNode, startScriptedNode } from "@sotto/test-kit/scripted-node";
import { expect } from "chai";
import { ServerClock } from "../src/paywall/server-clock.ts";

const HEAD = 1_800_000_000;
const HASH = `0x${"11".repeat(32)}`;
const quantity = (value: number) => `0x${value.toString(16)}`;

describe("the clock of a server", () => {
  let node: ScriptedNode;
  let serverClock: ServerClock;
  /** Milliseconds by which the clock is ahead of the true time. */
  let off: number;
  /** True milliseconds since the newest block. */
  let passed: number;
  /** Whether the chain mines blocks. */
  let quiet: boolean;

  beforeEach(async () => {
    [off, passed, quiet] = [0, 0, false];
    const block = ([tag]: unknown[]) => {
      const [number, age] = tag === "pending" ? [7, 0] : [6, quiet ? passed : 0];
      const timestamp = HEAD + Math.floor((passed - age) / 1000);
      return { number: quantity(number), hash: tag === "pending" ? null : HASH, timestamp: quantity(timestamp) };
    };
    node = await startScriptedNode({ eth_chainId: quantity(8453), eth_getBlockByNumber: block });
    const chain = connectChain({ urls: [node.url], chainId: 8453n, timeoutMs: 120_000, clock: () => passed });
    serverClock = new ServerClock({ chain, clock: () => HEAD * 1000 + passed + off, monotonic: () => passed });
  });
  afterEach(() => node.close());

  const problem = async () => {
    const { code, details } = (await serverClock.problem()) ?? {};
    return code === undefined ? "right" : [code, details?.["seconds"], details?.["direction"]];
  };
  const blocks = () => node.methods.filter((method) => method === "eth_getBlockByNumber").length;

  for (const [seconds, expected] of [
    [360, ["PAYWALL_CLOCK_WRONG", 360, "ahead"]],
    [91, ["PAYWALL_CLOCK_WRONG", 91, "ahead"]],
    [90, "right"],
    [30, "right"],
    [-60, "right"],
    [-61, ["PAYWALL_CLOCK_WRONG", 61, "behind"]],
    [-86_400, ["PAYWALL_CLOCK_WRONG", 86_400, "behind"]],
  ] as const)
    it(`is ${typeof expected === "string" ? "right" : "wrong"} at ${seconds} s`, async () => {
      off = seconds * 1000;
      expect(await problem()).to.deep.equal(expected);
    });

  it("is right if no block was mined for a day, and wrong beyond that", async () => {
    quiet = true;
    passed = 86_400_000;
    expect(await problem()).to.equal("right");
    off = 360_000;
    expect(await problem()).to.deep.equal(["PAYWALL_CLOCK_WRONG", 360, "ahead"]);
  });

  it("is compared every 30 s while it is right, in the background", async () => {
    for (let i = 0; i < 5; i += 1) expect(await problem()).to.equal("right");
    expect(blocks()).to.equal(1);
    passed = 29_999;
    expect([await problem(), blocks()]).to.deep.equal(["right", 1]);
    passed = 30_000;
    const { answers } = node;
    node.answers = { ...answers, eth_getBlockByNumber: HANG };
    expect(await problem()).to.equal("right");
    node.answers = answers;
  });

  it("is compared at once after it was set, and every second while it is wrong", async () => {
    expect(await problem()).to.equal("right");
    off = 360_000;
    expect(await problem()).to.deep.equal(["PAYWALL_CLOCK_WRONG", 360, "ahead"]);
    const asked = blocks();
    passed = 999;
    expect([await problem(), blocks()]).to.deep.equal([["PAYWALL_CLOCK_WRONG", 360, "ahead"], asked]);
    passed = 1_000;
    await problem();
    expect(blocks()).to.be.greaterThan(asked);
    off = 0;
    expect(await problem()).to.equal("right");
  });

  it("keeps its last state while no node answers", async () => {
    node.answers = {};
    expect(await problem()).to.equal("right");
    expect(await serverClock.assertRight().catch(({ code }) => code)).to.equal("NODE_ERROR");
  });

  it("makes only the first request wait while no node answers, and is compared as soon as one does", async () => {
    const { answers } = node;
    node.answers = {};
    expect(await problem()).to.equal("right");
    off = 360_000;
    node.answers = answers;
    expect(await problem(), "in the background").to.equal("right");
    await eventually(async () => (await problem()) !== "right");
    // A request that waited would exceed this test's limit.
    node.answers = {};
    passed = 1_000;
    await problem();
    node.answers = { ...answers, eth_getBlockByNumber: HANG };
    expect(await problem()).to.deep.equal(["PAYWALL_CLOCK_WRONG", 360, "ahead"]);
  });
});
