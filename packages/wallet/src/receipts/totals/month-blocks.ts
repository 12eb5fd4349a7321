// The blocks that may have payments to the address of a month: those of its time and of an hour before and after it.
import { type Block, type ChainSource, readBlock, useNode } from "@sotto/chain";
import { MONTH_MARGIN_MS, type Month, monthEnd, monthStart } from "@sotto/protocol";

/** A range of blocks, both included. */
export interface BlockRange {
  /** First block, included. */
  readonly fromBlock: number;
  /** Last block, included. */
  readonly toBlock: number;
}

/** Blocks in which a month's blocks are looked for. */
export interface MonthBlocksOptions extends BlockRange {
  /** Where the times of blocks are read. */
  readonly chain: ChainSource;
}

/** The times of the first block, and of the first one after the last block, seconds. */
const timesOf = (month: Month): [number, number] => [
  (monthStart(month) - MONTH_MARGIN_MS) / 1000,
  (monthEnd(month) + MONTH_MARGIN_MS) / 1000,
];

/**
 * The first block of a range whose time is `time` or later; undefined if there is none. Times grow almost evenly, so an
 * interpolated guess is near. Every other guess halves the range, in case they do not.
 */
async function firstSince(
  read: (number: number) => Promise<Block>,
  time: number,
  { fromBlock, toBlock }: BlockRange,
): Promise<number | undefined> {
  let [low, high] = [await read(fromBlock), await read(toBlock)];
  if (low.timestamp >= time) return fromBlock;
  if (high.timestamp < time) return undefined;
  for (let halves = false; high.number - low.number > 1; halves = !halves) {
    const size = high.number - low.number;
    const share = halves ? 0.5 : (time - low.timestamp) / (high.timestamp - low.timestamp);
    const guess = low.number + Math.min(size - 1, Math.max(1, Math.round(share * size)));
    const block = await read(guess);
    if (block.timestamp >= time) high = block;
    else low = block;
  }
  return high.number;
}

/**
 * The blocks of a range that may have payments to the address of a month.
 * @returns undefined if no block of the range is of that time
 * @throws ChainError NODE_UNREACHABLE, NODE_ERROR, NODE_INCONSISTENT; SottoError INVALID_MONTH
 */
export async function monthBlocks(month: Month, options: MonthBlocksOptions): Promise<BlockRange | undefined> {
  const { chain, fromBlock, toBlock } = options;
  const [start, end] = timesOf(month);
  if (fromBlock > toBlock) return undefined;
  return useNode(chain, async (node) => {
    const known = new Map<number, Block>();
    const read = async (number: number) => {
      const block = known.get(number) ?? (await readBlock(node, number));
      known.set(number, block);
      return block;
    };
    const first = await firstSince(read, start, { fromBlock, toBlock });
    if (first === undefined) return undefined;
    const next = await firstSince(read, end, { fromBlock: first, toBlock });
    if (next === first) return undefined;
    return { fromBlock: first, toBlock: next === undefined ? toBlock : next - 1 };
  });
}

/**
 * Whether a range has all blocks that may have payments to the address of a month. False before the month has ended.
 * @param deploymentBlock the pool's first block, before which there are no payments
 */
export async function coversMonth(
  chain: ChainSource,
  month: Month,
  { fromBlock, toBlock, deploymentBlock }: BlockRange & { readonly deploymentBlock: number },
): Promise<boolean> {
  const [start, end] = timesOf(month);
  return useNode(chain, async (node) => {
    if (fromBlock > deploymentBlock && (await readBlock(node, fromBlock - 1)).timestamp >= start) return false;
    const next = await node.block(toBlock + 1);
    return next !== undefined && next.timestamp >= end;
  });
}
