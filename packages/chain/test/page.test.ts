import { rejection, thrown } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { poolInterface } from "../src/ethers/index.ts";
import type { ChainSource, Log, PoolEvent } from "../src/index.ts";
import { fetchRange, parseQueue, splitRange } from "../src/pool/page.ts";

const POOL = `0x${"90".repeat(20)}`;
const hashOf = (number: number) => `0x${number.toString(16).padStart(64, "0")}`;
const logOf = (name: string, values: unknown[], blockNumber: number, logIndex = 0): Log => ({
  address: POOL,
  blockNumber,
  blockHash: hashOf(blockNumber),
  transactionHash: hashOf(0),
  logIndex,
  ...poolInterface.encodeEventLog(name, values),
});
const deposit = (leafIndex: number, blockNumber: number) =>
  logOf("Deposited", [1n, 5n, BigInt(leafIndex + 100), leafIndex], blockNumber);
const append = (start: number, count: number, blockNumber: number) =>
  logOf("Appended", [7n, start, count], blockNumber, 1);

/** A node whose chain has these logs. */
function nodeWith(logs: Log[], changes: Partial<ChainSource> = {}): ChainSource {
  const block = async (number: number) => ({ number, hash: hashOf(number), timestamp: 1_000 + number });
  return {
    chainId: async () => 1n,
    head: () => block(99),
    block,
    logs: async () => logs,
    code: async () => "0x60",
    call: async () => "0x",
    ...changes,
  };
}

describe("pages of events", () => {
  const range = { from: 1, to: 9, timed: true };
  const eventsOf = async (logs: Log[]): Promise<PoolEvent[]> =>
    (await fetchRange(nodeWith(logs), POOL, range, undefined))!.events;

  it("contain the events with the times of their blocks", async () => {
    const found = await fetchRange(nodeWith([deposit(0, 3), deposit(1, 5)]), POOL, range, {
      number: 0,
      hash: hashOf(0),
    });
    expect(found).to.include({ from: 1, to: 9, hash: hashOf(9) });
    expect(found!.events.map(({ timestamp }) => timestamp)).to.deep.equal([1_003, 1_005]);
  });

  it("are undefined if the chain changes while they are read, or has changed since the previous page", async () => {
    let asked = 0;
    const changing = async (number: number) => ({ number, hash: hashOf(asked++), timestamp: 1 });
    expect(await fetchRange(nodeWith([], { block: changing }), POOL, range, undefined)).to.equal(undefined);
    expect(await fetchRange(nodeWith([], { block: async () => undefined }), POOL, range, undefined)).to.equal(
      undefined,
    );
    expect(await fetchRange(nodeWith([]), POOL, range, { number: 0, hash: hashOf(77) })).to.equal(undefined);
    const other = { ...deposit(0, 9), blockHash: hashOf(77) };
    expect(await fetchRange(nodeWith([other]), POOL, { ...range, timed: false }, undefined)).to.equal(undefined);
  });

  it("are refused if logs are out of order, from other blocks or malformed", async () => {
    for (const logs of [[deposit(1, 5), deposit(0, 3)], [deposit(0, 10)], [{ ...deposit(0, 3), data: "0x12" }]])
      expect(await rejection(fetchRange(nodeWith(logs), POOL, range, undefined))).to.include({
        code: "NODE_INCONSISTENT",
      });
  });

  it("continue the contract's counters", async () => {
    const events = await eventsOf([deposit(4, 3), append(2, 3, 3), deposit(5, 6)]);
    const page = parseQueue(nodeWith([]), events, { leaves: 4, appended: 2 });
    expect(page.leaves).to.deep.equal([
      { leaf: 104n, blockNumber: 3 },
      { leaf: 105n, blockNumber: 6 },
    ]);
    expect(page.appends).to.deep.equal([{ blockNumber: 3, size: 5, root: 7n }]);
  });

  it("are refused if a leaf or an append is missing, or if more is appended than was queued", async () => {
    const start = { leaves: 4, appended: 2 };
    for (const logs of [[deposit(5, 3)], [append(3, 1, 3)], [append(2, 3, 3)]]) {
      const events = await eventsOf(logs);
      const error = thrown(() => parseQueue(nodeWith([]), events, start));
      expect(error).to.include({ code: "NODE_INCONSISTENT" });
      expect(error.message).to.include("omitted");
    }
  });
});

describe("a range with many events", () => {
  const range = (blocks: number[]) => ({
    from: 5,
    to: 90,
    hash: "0xend",
    timestamp: 900,
    events: blocks.map((blockNumber) => ({ blockNumber, blockHash: `0x${blockNumber}` }) as PoolEvent),
  });
  const times = (count: number, block: number) => Array<number>(count).fill(block);

  it("is split into pages at block ends, without gap or overlap", () => {
    const blocks = [...times(2000, 10), ...times(100, 11), ...times(5000, 12), ...times(3, 13), ...times(2100, 20), 21];
    const parts = splitRange(range(blocks));
    expect(parts.map(({ from, to, hash, events }) => [from, to, hash, events.length])).to.deep.equal([
      [5, 11, "0x11", 2100],
      [12, 12, "0x12", 5000],
      [13, 20, "0x20", 2103],
      [21, 90, "0xend", 1],
    ]);
    expect(parts.flatMap(({ events }) => events)).to.deep.equal(range(blocks).events);
  });

  it("is one page if it has few events, or all in one block", () => {
    for (const blocks of [[], [90], times(2048, 7), times(9000, 7)]) {
      const [part, ...others] = splitRange(range(blocks));
      expect(others).to.deep.equal([]);
      expect(part).to.deep.equal(range(blocks));
    }
  });
});
