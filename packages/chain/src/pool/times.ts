import type { Block, Log } from "../rpc/values.ts";
import { type ChainSource, inconsistent } from "../source.ts";

/** Maximum concurrent requests for blocks. */
const AT_ONCE = 16;
/** The last second that a Date can represent. */
const LAST_SECOND = 8_640_000_000_000;

/**
 * The logs of a range with the times of their blocks. If the node returns the logs without times, or with impossible
 * ones, all blocks with logs are requested, so that the node does not learn which of them concern the wallet.
 * @param last the last block of the range
 * @returns undefined if the chain changed in between
 * @throws ChainError NODE_INCONSISTENT if the blocks' own times are impossible
 */
export async function withTimes(
  chain: ChainSource,
  logs: readonly Log[],
  last: Block,
): Promise<readonly Log[] | undefined> {
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
    throw inconsistent(chain, `returned impossible times for blocks up to ${last.number}`);
  return timed;
}

/** Whether all logs have a time (0 is none) that is not after the last block's. */
function arePlausible(logs: readonly Log[], last: Block): boolean {
  const latest = Math.min(last.timestamp, LAST_SECOND);
  return logs.every(({ timestamp = 0 }) => Number.isSafeInteger(timestamp) && timestamp > 0 && timestamp <= latest);
}
