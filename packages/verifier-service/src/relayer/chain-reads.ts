// Batched requests about many operations, because a round must not wait for each one.
import type { Chain, ContractRead, Receipt } from "@sotto/chain";

/** Receipts of the mined transactions, by hash. */
export async function receiptsOf(chain: Chain, hashes: readonly string[]): Promise<Map<string, Receipt>> {
  const receipts = await chain.receipts(hashes);
  return new Map(receipts.flatMap((receipt) => (receipt ? [[receipt.transactionHash, receipt]] : [])));
}

/** Which of these views return true. */
export async function areTrue(chain: Chain, reads: readonly ContractRead<unknown>[]): Promise<boolean[]> {
  return (await chain.reads(reads)).map((answer) => answer === true);
}
