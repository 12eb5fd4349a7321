import { type ChainSource, newestBlock, readBlock, type SettledEvent, useNode } from "@sotto/chain";
import { type EventRange, isSettled, poolEvents } from "../../scan/pool-events.ts";
import { ReceiptError } from "../errors.ts";
import { MAX_EVENTS } from "./statement.ts";

export interface Period extends Omit<EventRange, "from" | "to"> {
  chain: ChainSource;
  pool: string;
  fromBlock: number;
  toBlock: number;
  confirmations: number;
}

/**
 * All payments settled in a range of blocks of one chain history, and the hash of its last block.
 * @throws ReceiptError RECEIPT_NOT_SETTLED, RECEIPT_MALFORMED
 */
export async function periodEvents(period: Period): Promise<{ events: SettledEvent[]; blockHash: string }> {
  const { chain, pool, fromBlock, toBlock, confirmations, onProgress, signal } = period;
  if (fromBlock > toBlock)
    throw new ReceiptError("RECEIPT_MALFORMED", `the first block ${fromBlock} comes after the last block ${toBlock}`);
  const has = (await newestBlock(chain)).number - toBlock + 1;
  if (has < confirmations)
    throw new ReceiptError(
      "RECEIPT_NOT_SETTLED",
      `block ${toBlock} has ${Math.max(0, has)} confirmations of ${confirmations}`,
    );
  const range = { from: fromBlock, to: toBlock, onProgress, signal };
  const { events, blockHash } = await useNode(chain, async (node) => {
    if (confirmations > 1) await readBlock(node, toBlock + confirmations - 1);
    const { hash } = await readBlock(node, toBlock);
    const found = (await poolEvents(node, pool, range)).filter(isSettled);
    if ((await node.block(toBlock))?.hash !== hash)
      throw new ReceiptError("RECEIPT_NOT_SETTLED", "the chain was reorganized during the scan; try again");
    return { events: found, blockHash: hash };
  });
  if (events.length > MAX_EVENTS)
    throw new ReceiptError(
      "RECEIPT_MALFORMED",
      `${events.length} payments were settled in these blocks, but a statement covers at most ${MAX_EVENTS}; use fewer blocks`,
    );
  return { events, blockHash };
}
