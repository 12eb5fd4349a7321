// Questions about many operations, asked together: a round must not wait for an answer to each.
import type { Interface } from "ethers";
import type { ChainReader } from "./chain/reader.ts";
import type { Call, Receipt } from "./chain/values.ts";
import { CallReverted } from "./errors.ts";

/** A question about one contract, as `readAll` asks it. */
export interface Question {
  readonly abi: Interface;
  readonly to: string;
  readonly name: string;
  readonly values: readonly unknown[];
}

/** The receipts of those that are in a block, by hash. */
export async function receiptsOf(chain: ChainReader, hashes: readonly string[]): Promise<Map<string, Receipt>> {
  const receipts = await Promise.all(hashes.map((hash) => chain.receipt(hash)));
  return new Map(receipts.flatMap((receipt) => (receipt ? [[receipt.transactionHash, receipt]] : [])));
}

/** What each call would return; a call that would revert gives its error. */
export function callAll(chain: ChainReader, calls: readonly Call[]): Promise<(string | CallReverted)[]> {
  return Promise.all(
    calls.map((call) =>
      chain.call(call).catch((error: unknown) => {
        if (error instanceof CallReverted) return error;
        throw error;
      }),
    ),
  );
}

/** Which of these views return true. */
export async function areTrue(chain: ChainReader, questions: readonly Question[]): Promise<boolean[]> {
  const answers = await Promise.all(questions.map(({ abi, to, name, values }) => chain.read(abi, to, name, values)));
  return answers.map((answer) => answer === true);
}
