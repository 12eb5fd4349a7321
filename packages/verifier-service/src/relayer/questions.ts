// Batched requests about many operations, because a round must not wait for each one.
import type { Chain, ContractQuestion, Receipt } from "@sotto/chain";

/** Receipts of the mined transactions, by hash. */
export async function receiptsOf(chain: Chain, hashes: readonly string[]): Promise<Map<string, Receipt>> {
  const receipts = await chain.receipts(hashes);
  return new Map(receipts.flatMap((receipt) => (receipt ? [[receipt.transactionHash, receipt]] : [])));
}

/** Which of these views return true. */
export async function areTrue(chain: Chain, questions: readonly ContractQuestion<unknown>[]): Promise<boolean[]> {
  return (await chain.reads(questions)).map((answer) => answer === true);
}
