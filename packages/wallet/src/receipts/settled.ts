import { type ChainSource, newestBlock, readBlock, type SettledEvent, useNode } from "@sotto/chain";
import { isSettled, poolEvents } from "../scan/pool-events.ts";
import { ReceiptError } from "./errors.ts";

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
    return poolEvents(node, pool, range);
  };
  const found = blockNumber > height ? [] : await useNode(chain, read);
  const event = found.filter(isSettled).find((one) => one.digest === digest && one.transactionHash === transactionHash);
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
