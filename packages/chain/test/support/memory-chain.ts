import { poolInterface } from "../../src/ethers/index.ts";
import { type Block, ChainError, type ChainSource, type Log, type LogQuery } from "../../src/index.ts";

export const POOL = `0x${"90".repeat(20)}`;

const word = (value: number) => value.toString(16).padStart(64, "0");

/** A chain in memory: the pool's deposits and appends, and the requests that it received. */
export class MemoryChain implements ChainSource {
  readonly blocks: (Block & { logs: Log[] })[] = [];
  /** Ranges of blocks whose logs were requested. */
  readonly asked: [from: number, to: number][] = [];
  /** Called before each request for logs. */
  beforeLogs: () => void = () => undefined;
  maxRange = Number.POSITIVE_INFINITY;
  #mined = 0;

  constructor(blocks: number) {
    this.mine(...Array<number>(blocks).fill(0));
  }

  /** Mines blocks with these numbers of deposits. No two blocks ever have the same hash. */
  mine(...deposits: number[]): void {
    for (const count of deposits) {
      const number = this.blocks.length;
      this.#mined += 1;
      const block = { number, hash: `0x${word(this.#mined)}`, timestamp: 1_000 + number };
      const size = this.size;
      const logs = Array.from({ length: count }, (_, i) => {
        const event = poolInterface.encodeEventLog("Deposited", [1n, 5n, BigInt(size + i + 100), size + i]);
        const place = { blockNumber: number, blockHash: block.hash, transactionHash: `0x${word(0)}`, logIndex: i };
        return { address: POOL, ...place, ...event };
      });
      this.blocks.push({ ...block, logs });
    }
  }

  /** Removes the newest blocks. */
  takeBack(count: number): void {
    this.blocks.length -= count;
  }

  /** Deposited notes. */
  get size(): number {
    return this.blocks.reduce((sum, { logs }) => sum + logs.length, 0);
  }

  hashOf(number: number): string {
    return this.blocks[number]!.hash;
  }

  async chainId(): Promise<bigint> {
    return 1n;
  }

  async head(): Promise<Block> {
    return this.blocks.at(-1)!;
  }

  async block(number: number): Promise<Block | undefined> {
    return this.blocks[number];
  }

  async logs({ from, to }: LogQuery): Promise<Log[]> {
    this.asked.push([from, to]);
    this.beforeLogs();
    if (to - from + 1 > this.maxRange) throw new ChainError("RANGE_TOO_LARGE", "the range is too large");
    return this.blocks.slice(from, to + 1).flatMap(({ logs }) => logs);
  }

  async code(): Promise<string> {
    return "0x60";
  }

  /** The pool's queue: nothing is ever appended. */
  async call(): Promise<string> {
    return `0x${[this.size, ...Array<number>(6).fill(0)].map(word).join("")}`;
  }
}

/** A node that returns the responses of `chain`, some of them changed. */
export const nodeOf = (chain: MemoryChain, changes: Partial<ChainSource> = {}): ChainSource => ({
  chainId: () => chain.chainId(),
  head: () => chain.head(),
  block: (number) => chain.block(number),
  logs: (query) => chain.logs(query),
  code: () => chain.code(),
  call: () => chain.call(),
  ...changes,
});
