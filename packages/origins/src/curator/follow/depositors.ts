import { ChainError, type ChainSource, type Log } from "@sotto/chain";
import type { Address } from "@sotto/protocol";

/** keccak256 of `Transfer(address,address,uint256)`. */
const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

/** A deposit's place on the chain. */
export interface PlacedDeposit {
  readonly leaf: number;
  /** Base units. */
  readonly amount: bigint;
  readonly transactionHash: string;
  /** Position of its event among all logs of its block. */
  readonly logIndex: number;
  readonly blockNumber: number;
}

/**
 * The accounts whose tokens moved for some deposits. A relayer may send a deposit that its owner only signed, so the sender of the
 * transaction says nothing. The pool emits the events of a call right after the token's transfer to it: all deposits after a
 * transfer, up to the next one, are of the account that it was from, and their amounts add up to what it moved.
 * @param deposits all deposits of their transactions, in the order of the chain
 * @returns by leaf. A deposit without such a transfer is missing
 * @throws ChainError
 */
export async function depositorsOf(
  chain: ChainSource,
  { pool, token }: { readonly pool: Address; readonly token: Address },
  deposits: readonly PlacedDeposit[],
): Promise<Map<number, Address>> {
  const depositors = new Map<number, Address>();
  const first = deposits[0];
  if (first === undefined) return depositors;
  const topics = [TRANSFER, null, `0x${pool.slice(2).padStart(64, "0")}`];
  const logs = await logsOf(chain, {
    address: token,
    from: first.blockNumber,
    to: deposits.at(-1)!.blockNumber,
    topics,
  });
  const transfers = logs.filter(({ topics: [kind, , to] }) => kind === TRANSFER && to === topics[2]);
  const byTransaction = groupByTransaction(transfers);
  for (const [hash, own] of groupByTransaction(deposits)) {
    const moved = byTransaction.get(hash) ?? [];
    for (const [i, transfer] of moved.entries()) {
      const next = moved[i + 1]?.logIndex ?? Number.POSITIVE_INFINITY;
      const paid = own.filter(({ logIndex }) => logIndex > transfer.logIndex && logIndex < next);
      if (paid.reduce((sum, { amount }) => sum + amount, 0n) !== BigInt(transfer.data)) continue;
      for (const { leaf } of paid) depositors.set(leaf, `0x${transfer.topics[1]!.slice(26)}`);
    }
  }
  return depositors;
}

function groupByTransaction<T extends { readonly transactionHash: string }>(items: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(item.transactionHash) ?? [];
    groups.set(item.transactionHash, group);
    group.push(item);
  }
  return groups;
}

/** Logs of a range. If the nodes refuse it, it is halved. */
async function logsOf(chain: ChainSource, query: Parameters<ChainSource["logs"]>[0]): Promise<Log[]> {
  const { from, to } = query;
  try {
    return await chain.logs(query);
  } catch (error) {
    if (!(error instanceof ChainError && error.code === "RANGE_TOO_LARGE") || from === to) throw error;
    const middle = Math.floor((from + to) / 2);
    return [
      ...(await logsOf(chain, { ...query, to: middle })),
      ...(await logsOf(chain, { ...query, from: middle + 1 })),
    ];
  }
}
