import type { PoolSync } from "../scan/sync.ts";
import type { SearchProgress } from "../scan/types.ts";
import type { Lock } from "./lock.ts";

/** Options of a search. */
export interface SearchOptions {
  /** Called after each range of blocks. */
  onProgress?: ((progress: SearchProgress) => void) | undefined;
  /** Stops the search; the next one continues there. */
  signal?: AbortSignal | undefined;
}

/** The part of a wallet that a search works with. */
interface Searched {
  readonly sync: PoolSync;
  readonly lock: Lock;
  /** Scans new blocks, while the lock is held. */
  readonly scan: (signal: AbortSignal | undefined) => Promise<unknown>;
}

/** Searches blocks for payments that the scan does not see, and scans them. @returns how many payments it found */
export async function search(
  { sync, lock, scan }: Searched,
  { onProgress, signal }: SearchOptions = {},
): Promise<number> {
  let count = 0;
  for (;;) {
    signal?.throwIfAborted();
    const searched = await sync.searchNext(signal);
    if (searched === undefined) return count;
    // Only this part excludes payments.
    count += await lock.run(async () => {
      const { length } = searched.found;
      if (!(await sync.addSearched(searched))) return 0;
      if (length > 0) await scan(signal);
      return length;
    }, signal);
    onProgress?.({ block: searched.to, to: searched.end });
  }
}
