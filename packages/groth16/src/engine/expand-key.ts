/** Compact keys, with the threads that prove. */
import { pack } from "../compact/compact.ts";
import { type ComputePoints, expand } from "../compact/expand.ts";
import { MAX_ORIGINAL_BYTES } from "../compact/format.ts";
import { compileRoots } from "../compact/program.ts";
import { pointsOf } from "../compact/roots.ts";
import { Groth16Error } from "../errors.ts";
import { invalidKey } from "../fast/zkey.ts";
import { isPage, type OtherThreads, otherThreads, pointsRemotely, startThreads } from "./second-thread.ts";

/** Options of expanding a compact key. */
export interface ExpandOptions {
  /** Maximum size of the .zkey file in it, bytes. Default: 2^31 - 1, larger than any key with which the engine can prove. */
  maxBytes?: number | undefined;
  /** Uses no other thread. Default: false. */
  singleThread?: boolean | undefined;
  /** In a page, computes in two workers, as `FastOptions.pageWorkers` does. Default: false. */
  pageWorkers?: boolean | undefined;
}

/**
 * Expands a compact key, which `compactKey` made, to the .zkey file: the same bytes, with the SHA-256 that the compact key states.
 * Compare its hash with one from a source that you trust, as with any key.
 * @param compact its bytes, or pieces as they arrive: points are computed while the rest is downloaded
 * @returns under Node, bytes in a SharedArrayBuffer, which no prover has to copy
 * @throws Groth16Error COMPACT_KEY_INVALID, COMPACT_KEY_UNSUPPORTED, ENGINE_UNSUPPORTED; and what reading the pieces throws
 */
export async function expandKey(
  compact: Uint8Array | AsyncIterable<Uint8Array>,
  { maxBytes = MAX_ORIGINAL_BYTES, singleThread = false, pageWorkers = false }: ExpandOptions = {},
): Promise<Uint8Array> {
  const isWhole = ArrayBuffer.isView(compact);
  return expand(isWhole ? only(compact) : compact, {
    computePoints: computeWith(otherThreads(singleThread, pageWorkers)),
    maxBytes,
    compactSize: isWhole ? compact.byteLength : undefined,
    // The second thread reads it too; but WebCrypto, which hashes it in a page, takes no shared memory.
    allocate: (bytes) => new Uint8Array(isPage() ? new ArrayBuffer(bytes) : new SharedArrayBuffer(bytes)),
  });
}

/**
 * Makes a compact key of a .zkey file: about half as large as that file compressed with brotli. It is expanded again, which compares
 * the hash of the file.
 * @throws Groth16Error PROVING_KEY_INVALID if the file is not a key, or one that no setup makes: with a point that is not on its
 *   curve, or a number that is not below its field's order
 */
export async function compactKey(zkey: Uint8Array): Promise<Uint8Array> {
  const compact = await pack(zkey);
  try {
    await expandKey(compact);
  } catch (error) {
    if (!(error instanceof Groth16Error) || error.code !== "COMPACT_KEY_INVALID") throw error;
    throw invalidKey(`it cannot be made compact: ${error.details["reason"]}`);
  }
  return compact;
}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield bytes;
}

/** The other threads take turns, with this one if there is only one other. A thread that fails leaves its work to this one. */
function computeWith(others: OtherThreads): ComputePoints {
  startThreads(others);
  // It begins before the first points arrive, which report its failure.
  const compiling = compileRoots();
  compiling.catch(() => undefined);
  return async (group, degree, packed) => {
    const program = await compiling;
    const turn = group % 2;
    if (turn < others) {
      try {
        // A copy, because a message with a part of an array takes all of its memory: the whole file.
        return await pointsRemotely({ program, degree, packed: packed.slice() }, turn as 0 | 1);
      } catch {
        // The runtime forbids workers, or the worker has ended.
      }
    }
    return pointsOf(program, degree, packed);
  };
}
