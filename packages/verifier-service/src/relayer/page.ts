import { type ChainNode, type EventRange, type PageStart, readQueue, requireBlock } from "@sotto/chain";
import type { LedgerPage, Row } from "../store/index.ts";

/** Blocks. Most reorganisations are shorter; longer ones roll back more blocks than necessary. */
const MAX_ANCHOR_DISTANCE = 64;

/** Converts the events of a range to rows. @throws ChainError NODE_INCONSISTENT if events are missing */
export async function readPage(
  node: ChainNode,
  { from, to, hash, events }: EventRange,
  start: PageStart,
): Promise<LedgerPage> {
  const queue = readQueue(node, events, start);
  const spends: Row<"spends">[] = [];
  for (const event of events) {
    if (event.type !== "settled" && event.type !== "withdrawn") continue;
    const { digest, transactionHash: tx_hash, blockNumber: block_number } = event;
    // An unused nullifier of a withdrawal is 0.
    const nullifiers = event.type === "settled" ? [event.nullifier] : event.nullifiers.filter((one) => one !== 0n);
    for (const nullifier of nullifiers) spends.push({ nullifier: String(nullifier), digest, tx_hash, block_number });
  }
  const hashes = new Map(events.map(({ blockNumber, blockHash }) => [blockNumber, blockHash])).set(to, hash);
  return {
    leaves: queue.leaves.map(({ leaf, blockNumber: block_number }, index) => ({
      leaf_index: start.leaves + index,
      commitment: String(leaf),
      block_number,
    })),
    appends: queue.appends.map(({ size, root, blockNumber: block_number }) => ({
      size,
      root: String(root),
      block_number,
    })),
    spends,
    blocks: await blocksOf(node, hashes, from, to),
  };
}

/**
 * The blocks with events, the last block, and some before it (1, 2, 4 .. blocks back). If one of them is canonical, everything
 * up to it is canonical too. So a reorganisation of a few blocks rolls back only a few blocks.
 */
async function blocksOf(
  node: ChainNode,
  hashes: ReadonlyMap<number, string>,
  from: number,
  to: number,
): Promise<Row<"blocks">[]> {
  const numbers = new Set(hashes.keys());
  for (let back = 1; back <= MAX_ANCHOR_DISTANCE && to - back >= from; back *= 2) numbers.add(to - back);
  const blocks: Row<"blocks">[] = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const { hash, timestamp } = await requireBlock(node, number);
    if ((hashes.get(number) ?? hash) !== hash)
      throw node.inconsistent("returned logs whose block hash is not that of the block");
    blocks.push({ number, hash, timestamp });
  }
  return blocks;
}
