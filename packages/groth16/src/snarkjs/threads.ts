/** How many threads prove a key. */
import { isPage } from "../engine/second-thread.ts";

/**
 * Under Node, keys of fewer bytes are proved on one thread: a second one takes 17 MB, and its start takes longer than it saves. A page
 * has workers for any key, because a proof would block it.
 */
export const MIN_SHARED_KEY_BYTES = 1_500_000;

/** @param keyBytes size of the .zkey file */
export function usesOneThread(singleThread: boolean, keyBytes: number): boolean {
  return singleThread || (!isPage() && keyBytes < MIN_SHARED_KEY_BYTES);
}
