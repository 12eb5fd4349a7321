import type { Block } from "../rpc/values.ts";
import { type ChainSource, inconsistent, readBlock } from "../source.ts";
import type { EventRange } from "./page.ts";

/** Blocks. Most reorganizations are shorter; longer ones roll back more blocks than necessary. */
const MAX_ANCHOR_DISTANCE = 64;

/**
 * The blocks with events, the last block, and some before it (1, 2, 4 .. blocks back), oldest first. If one of them is
 * canonical, everything up to it is canonical too. So a reorganization of a few blocks rolls back only a few blocks.
 * @throws ChainError NODE_INCONSISTENT
 */
export async function readAnchors(node: ChainSource, { from, to, hash, events }: EventRange): Promise<Block[]> {
  const hashes = new Map(events.map(({ blockNumber, blockHash }) => [blockNumber, blockHash])).set(to, hash);
  const numbers = new Set(hashes.keys());
  for (let back = 1; back <= MAX_ANCHOR_DISTANCE && to - back >= from; back *= 2) numbers.add(to - back);
  const anchors: Block[] = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const block = await readBlock(node, number);
    if ((hashes.get(number) ?? block.hash) !== block.hash)
      throw inconsistent(node, "returned logs whose block hash is not that of the block");
    anchors.push(block);
  }
  return anchors;
}
