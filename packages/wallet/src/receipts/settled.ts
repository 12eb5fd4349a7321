import {
  ChainError,
  type ChainSource,
  decodeEvent,
  newestBlock,
  type PoolEvent,
  readBlock,
  type SettledEvent,
  useNode,
} from "@sotto/chain";
import { ReceiptError } from "./errors.ts";

/** Blocks per request, as long as the node accepts that many. */
const RANGE = 10_000;

export interface EventRange {
  /** First and last block, both included. */
  from: number;
  to: number;
  onProgress?: ((progress: { block: number; to: number }) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * All payments settled in a range of blocks, in chain order.
 * @throws ChainError NODE_UNREACHABLE, NODE_ERROR, POOL_MISMATCH
 */
export async function settledEvents(chain: ChainSource, pool: string, range: EventRange): Promise<SettledEvent[]> {
  const events: PoolEvent[] = [];
  let size = RANGE;
  for (let from = range.from; from <= range.to; ) {
    range.signal?.throwIfAborted();
    const to = Math.min(range.to, from + size - 1);
    try {
      for (const log of await chain.logs({ address: pool, from, to })) {
        const event = decodeEvent(log);
        if (event !== undefined) events.push(event);
      }
    } catch (error) {
      if (!(error instanceof ChainError) || error.code !== "RANGE_TOO_LARGE" || from === to) throw error;
      size = Math.max(1, Math.floor((to - from + 1) / 2));
      continue;
    }
    range.onProgress?.({ block: to, to: range.to });
    from = to + 1;
  }
  return events.filter((event) => event.type === "settled");
}

/** Identifies a payment on chain. */
export interface PaymentPlace {
  blockNumber: number;
  transactionHash: string;
  /** keccak256 of its signals. */
  digest: string;
}

/**
 * The event of one payment, if it has the required confirmations. The node learns the payment's block.
 * @param confirmations blocks from the payment's block on, itself included; 1 or more
 * @throws ReceiptError RECEIPT_NOT_SETTLED
 */
export async function settledEvent(
  chain: ChainSource,
  pool: string,
  { blockNumber, transactionHash, digest }: PaymentPlace,
  confirmations: number,
): Promise<SettledEvent> {
  const { number: height } = await newestBlock(chain);
  const range = { from: blockNumber, to: blockNumber };
  const last = Math.min(height, blockNumber + confirmations - 1);
  const read = async (node: ChainSource) => {
    await readBlock(node, last);
    return settledEvents(node, pool, range);
  };
  const found = blockNumber > height ? [] : await useNode(chain, read);
  const event = found.find((one) => one.digest === digest && one.transactionHash === transactionHash);
  if (event === undefined)
    throw new ReceiptError(
      "RECEIPT_NOT_SETTLED",
      `transaction ${transactionHash} in block ${blockNumber} does not settle this payment`,
    );
  const has = height - blockNumber + 1;
  if (has < confirmations)
    throw new ReceiptError("RECEIPT_NOT_SETTLED", `the payment has ${has} confirmations of ${confirmations}`);
  return event;
}
