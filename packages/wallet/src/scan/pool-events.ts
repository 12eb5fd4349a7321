import { ChainError, type ChainSource, decodeEvent, type PoolEvent, type SettledEvent } from "@sotto/chain";

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
 * All events of the pool in a range of blocks, in chain order, without the times of their blocks. A node that lacks some of the
 * blocks omits their events: the caller has to notice that.
 * @throws ChainError NODE_UNREACHABLE, NODE_ERROR, POOL_MISMATCH
 */
export async function poolEvents(chain: ChainSource, pool: string, range: EventRange): Promise<PoolEvent[]> {
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
  return events;
}

/** Whether an event settles a payment. */
export const isSettled = (event: PoolEvent): event is SettledEvent => event.type === "settled";
