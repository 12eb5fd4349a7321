import type { Block, ChainSource, RawLog } from "../chain/source.ts";
import { WalletError } from "../errors.ts";

/** Blocks asked for at the same time. */
const AT_ONCE = 16;
/** The last second a Date can hold. */
const LAST_SECOND = 8_640_000_000_000;

/**
 * The logs of a range with the times of their blocks. Where the node does not tell them with the logs, or tells what
 * cannot be, all blocks with logs are asked for: it must not learn which of them hold something of the wallet.
 * @param last the last block of the range
 * @returns undefined where the chain changed in between
 * @throws WalletError NODE_INCONSISTENT where the blocks' own times cannot be
 */
export async function withTimes(
  chain: ChainSource,
  logs: readonly RawLog[],
  last: Block,
): Promise<readonly RawLog[] | undefined> {
  if (arePlausible(logs, last)) return logs;
  const hashes = [...new Map(logs.map(({ blockNumber, blockHash }) => [blockNumber, blockHash]))];
  const times = new Map<number, number>();
  for (let i = 0; i < hashes.length; i += AT_ONCE) {
    const blocks = await Promise.all(hashes.slice(i, i + AT_ONCE).map(([number]) => chain.block(number)));
    for (const [j, block] of blocks.entries()) {
      const [number, hash] = hashes[i + j]!;
      if (block?.hash !== hash) return undefined;
      times.set(number, block.timestamp);
    }
  }
  const timed = logs.map((log) => ({ ...log, timestamp: times.get(log.blockNumber) }));
  if (!arePlausible(timed, last))
    throw new WalletError("NODE_INCONSISTENT", `the node gave blocks up to ${last.number} times that cannot be`);
  return timed;
}

/** Whether all have a time, 0 being none, and none one behind the last block's. */
function arePlausible(logs: readonly RawLog[], last: Block): boolean {
  const latest = Math.min(last.timestamp, LAST_SECOND);
  return logs.every(({ timestamp = 0 }) => Number.isSafeInteger(timestamp) && timestamp > 0 && timestamp <= latest);
}
