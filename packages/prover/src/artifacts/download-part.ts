import { type Download, type Downloaded, download } from "./download.ts";
import type { Failsafe } from "./failsafe.ts";

/** Number of downloaded bytes between two writes to the cache. */
const PART_BYTES = 1 << 19;

export interface PartDownload extends Omit<Download, "onBytes"> {
  cache: Failsafe;
  /** The name of the file in the cache. */
  name: string;
  /** Called after each piece with everything received so far, from the beginning of the file. */
  onBytes(received: Uint8Array, total: number | undefined): void;
}

/**
 * Downloads a file, and keeps what has arrived in the cache as a part, with which a later download continues. The caller replaces or
 * removes the part at the end.
 * @throws the errors of `download`
 */
export async function downloadPart({ cache, name, onBytes, ...options }: PartDownload): Promise<Downloaded> {
  let stored = options.part?.length ?? 0;
  const keep = async (received: Uint8Array): Promise<void> => {
    if (received.length < stored) {
      // The download restarted, because the server sends no ranges or the part belonged to another file.
      await cache.use((entries) => entries.remove(name));
      stored = 0;
    }
    const offset = stored;
    stored = received.length;
    await cache.use((entries) => entries.writePart(name, offset, received.subarray(offset)));
  };
  let received: Uint8Array = new Uint8Array(0);
  try {
    return await download({
      ...options,
      onBytes: async (all, total) => {
        received = all;
        onBytes(all, total);
        if (all.length < stored || all.length - stored >= PART_BYTES) await keep(all);
      },
    });
  } catch (error) {
    if (received.length > 0) await keep(received);
    throw error;
  }
}
