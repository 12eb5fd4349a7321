import { NoteReader } from "../scan/note-reader.ts";
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

/**
 * Searches blocks for payments that the scan does not see, and scans once from the first of them on.
 * @returns how many payments that scan found
 */
export async function search(
  { sync, lock, scan }: Searched,
  { onProgress, signal }: SearchOptions = {},
): Promise<number> {
  // The reader's threads have the viewing keys, so they end with the search.
  const reader = new NoteReader();
  try {
    for (;;) {
      signal?.throwIfAborted();
      const searched = await sync.searchNext(reader, signal);
      if (searched === undefined) break;
      // Only what holds the lock excludes payments.
      await lock.run(() => sync.addSearched(searched), signal);
      onProgress?.({ block: searched.to, to: searched.end });
    }
  } finally {
    reader.close();
  }
  return lock.run(async () => {
    const count = await sync.takeFound();
    if (count > 0) await scan(signal);
    return count;
  }, signal);
}
