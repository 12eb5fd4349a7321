/** Downloads of proving keys in compact form, which has half of the bytes. Expanding it takes longer than a fast line saves. */
import { throwIfAborted } from "../errors.ts";
import { isRefusal } from "./download.ts";
import { downloadPart, type PartDownload } from "./download-part.ts";
import { sha256 } from "./sha256.ts";

/** A service's compact key. */
export interface CompactFile {
  readonly url: string;
  /** 64 lower-case hex digits. */
  readonly sha256: string;
  /** Bytes. */
  readonly size: number;
}

/**
 * Makes a .zkey file of a compact key, while its pieces arrive: `expandKey` of @sotto/groth16.
 * @param maxBytes maximum size of the .zkey file
 * @throws Error if it is not a compact key, or this runtime cannot expand one
 */
export type ExpandKey = (
  pieces: AsyncIterable<Uint8Array>,
  options: { readonly maxBytes: number },
) => Promise<Uint8Array>;

/**
 * Above this rate, bits per second, the .zkey file is taken. By `npm run bench compact`, a first proof with a compact key is sooner over 20
 * Mbit/s, and later over 100.
 */
const FAST_LINE = 50e6;
/** The first bytes, by which the rate is measured. */
const PROBE_BYTES = 1 << 18;

export interface CompactDownload extends Omit<PartDownload, "url" | "size" | "part" | "accept"> {
  readonly file: CompactFile;
  readonly expand: ExpandKey;
  /** Checks whether the expanded bytes are the key that the lock names. */
  accept(zkey: Uint8Array): Promise<boolean>;
}

/**
 * Downloads and expands a compact key.
 * @returns the .zkey file; undefined if it should be downloaded as it is: the line is fast, or the server refuses the compact key, or it
 *   is another one or cannot be expanded
 * @throws SottoError ARTIFACT_UNREACHABLE, ABORTED
 */
export async function downloadCompactKey(options: CompactDownload): Promise<Uint8Array | undefined> {
  const { file, name, expand, accept, cache, signal, maxBytes } = options;
  const part = await cache.use((entries) => entries.readPart(name, file.size));
  const pieces = new Pieces();
  let expanding: Promise<Uint8Array> | undefined;
  const enough = new AbortController();
  const rateOf = rateMeter();
  let taken = 0;
  try {
    const { bytes, accepted } = await downloadPart({
      ...{ ...options, url: file.url, size: file.size, part, maxBytes: file.size },
      signal: signal === undefined ? enough.signal : AbortSignal.any([signal, enough.signal]),
      accept: async (all) => (await sha256(all)) === file.sha256,
      onBytes(all, total) {
        options.onBytes(all, total);
        const rate = rateOf(all.length);
        if (rate !== undefined && rate > FAST_LINE) enough.abort();
        else if (rate !== undefined && expanding === undefined) {
          // Not before: it would take the time of the thread that measures.
          expanding = expand(pieces, { maxBytes });
          // It is awaited later, or not at all.
          expanding.catch(() => undefined);
        }
        // After a restart from the first byte, the bytes that were taken may be wrong: the hash decides.
        if (all.length > taken) pieces.add(all.subarray(taken));
        taken = Math.max(taken, all.length);
      },
    });
    pieces.end();
    // What was expanded on the way may begin with bytes of another response.
    const fromStart = (): Promise<Uint8Array> => expand(whole(bytes), { maxBytes });
    const zkey = accepted ? await (expanding?.catch(fromStart) ?? fromStart()) : undefined;
    await cache.use((entries) => entries.remove(name));
    return zkey !== undefined && (await accept(zkey)) ? zkey : undefined;
  } catch (error) {
    throwIfAborted(signal);
    if ((error as { code?: unknown }).code === "ARTIFACT_UNREACHABLE" && !isRefusal(error)) throw error;
    await cache.use((entries) => entries.remove(name));
    return undefined;
  } finally {
    pieces.end();
  }
}

/** Measures the rate of the first bytes, bits per second: undefined until they are there. Called with the number of bytes so far. */
function rateMeter(): (received: number) => number | undefined {
  let first: { readonly at: number; readonly received: number } | undefined;
  let rate: number | undefined;
  return (received) => {
    first ??= { at: performance.now(), received };
    const bytes = received - first.received;
    if (bytes >= PROBE_BYTES) rate ??= (8 * bytes) / ((performance.now() - first.at) / 1000);
    return rate;
  };
}

async function* whole(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield bytes;
}

/** Pieces that are read while others arrive. */
class Pieces implements AsyncIterable<Uint8Array> {
  readonly #waiting: Uint8Array[] = [];
  #isEnded = false;
  #wake: () => void = () => undefined;

  add(piece: Uint8Array): void {
    this.#waiting.push(piece);
    this.#wake();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    for (;;) {
      const piece = this.#waiting.shift();
      if (piece !== undefined) yield piece;
      else if (this.#isEnded) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}
