/** Proving keys in either format. */
import { isCompactKey } from "../compact/format.ts";
import { join } from "../compact/join.ts";
import { expandKey } from "../engine/expand-key.ts";
import { unlessAborted } from "../errors.ts";
import { readArtifact, type ZKArtifact } from "./files.ts";

interface Options {
  readonly signal: AbortSignal | undefined;
  readonly singleThread: boolean;
}

/** The .zkey file of each compact key, as long as the array of its bytes exists. */
const expanded = new WeakMap<Uint8Array, Promise<Uint8Array>>();

/**
 * Reads a proving key, and expands it if it is compact: a download while it arrives.
 * @returns the .zkey file
 * @throws Groth16Error CIRCUIT_FILE_UNREADABLE, COMPACT_KEY_INVALID, COMPACT_KEY_UNSUPPORTED, ENGINE_UNSUPPORTED, ABORTED
 */
export async function readKey(source: ZKArtifact, { signal, singleThread }: Options): Promise<Uint8Array> {
  const options = { singleThread, pageWorkers: true };
  const file = await readArtifact("proving key", source, signal, async (response) => {
    const { isCompact, pieces } = await peek(piecesOf(response));
    return isCompact ? expandKey(pieces, options) : collect(pieces);
  });
  if (!isCompactKey(file)) return file;
  let key = expanded.get(file);
  if (key === undefined) {
    key = expandKey(file, options);
    expanded.set(file, key);
    // The next call tries again.
    key.catch(() => expanded.delete(file));
  }
  return unlessAborted(key, signal);
}

async function* piecesOf({ body }: Response): AsyncGenerator<Uint8Array, void> {
  const reader = body?.getReader();
  if (reader === undefined) return;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // Ends the download if it is not complete.
    await reader.cancel();
  }
}

/** Reads the first bytes. @returns all pieces, with those */
async function peek(
  source: AsyncGenerator<Uint8Array, void>,
): Promise<{ isCompact: boolean; pieces: AsyncGenerator<Uint8Array, void> }> {
  const first: Uint8Array[] = [];
  let size = 0;
  while (size < 4) {
    const { done, value } = await source.next();
    if (done === true) break;
    first.push(value);
    size += value.byteLength;
  }
  async function* pieces(): AsyncGenerator<Uint8Array, void> {
    try {
      yield* first;
      yield* source;
    } finally {
      await source.return();
    }
  }
  return { isCompact: isCompactKey(join(first)), pieces: pieces() };
}

async function collect(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return join(all);
}
