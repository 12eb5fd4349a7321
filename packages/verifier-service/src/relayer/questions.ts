// Questions about many operations, asked together: a round must not wait for an answer to each.
import type { Chain, ContractQuestion, Receipt } from "@sotto/chain";

/** The receipts of those that are in a block, by hash. */
export async function receiptsOf(chain: Chain, hashes: readonly string[]): Promise<Map<string, Receipt>> {
  const receipts = await chain.receipts(hashes);
  return new Map(receipts.flatMap((receipt) => (receipt ? [[receipt.transactionHash, receipt]] : [])));
}

/** Which of these views return true. */
export async function areTrue(chain: Chain, questions: readonly ContractQuestion<unknown>[]): Promise<boolean[]> {
  return (await chain.reads(questions)).map((answer) => answer === true);
}
