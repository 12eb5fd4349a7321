// What the relayer reads of the chain, in batched requests, because a round must not wait for each operation.
import type { Chain, ChainNode, ContractRead, Receipt } from "@sotto/chain";
import { isUsed, usedRead } from "../pool/authorizations.ts";
import type { Operation } from "../store/index.ts";
import { authorizationOf } from "./calldata.ts";
import type { RelayerContext, Round } from "./context.ts";

/**
 * Runs `action` with a node that has the round's block. A node that is behind, or on another chain, cannot say that something
 * did not happen or would fail.
 */
export function atHead<T>(chain: Chain, { head }: Round, action: (node: ChainNode) => Promise<T>): Promise<T> {
  return chain.useNode(async (node) => {
    await node.assertHas(head);
    return action(node);
  });
}

/** Receipts of the mined transactions, by hash. */
export async function receiptsOf(chain: Chain, hashes: readonly string[], round: Round): Promise<Map<string, Receipt>> {
  if (hashes.length === 0) return new Map();
  const receipts = await atHead(chain, round, (node) => node.receipts(hashes));
  return new Map(receipts.flatMap((receipt) => (receipt ? [[receipt.transactionHash, receipt]] : [])));
}

/** Which of these deposits' authorizations were used or cancelled. @param block as of this block; the newest if undefined */
export async function areUsed(
  { chain, pool }: RelayerContext,
  deposits: readonly Operation[],
  round: Round,
  block?: number,
): Promise<boolean[]> {
  if (deposits.length === 0) return [];
  const ids = deposits.map(authorizationOf);
  const reads = ids.map((id) => usedRead(pool.token, id));
  const answers = await atHead(chain, round, (node) => node.reads(reads, block));
  return ids.map((id, index) => isUsed(id, answers[index]));
}

/** Which of these views return true. @param block as of this block; the newest if undefined */
export async function areTrue(
  chain: Chain,
  reads: readonly ContractRead<unknown>[],
  round: Round,
  block?: number,
): Promise<boolean[]> {
  if (reads.length === 0) return [];
  return (await atHead(chain, round, (node) => node.reads(reads, block))).map((answer) => answer === true);
}
