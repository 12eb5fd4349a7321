/** Reads proving keys: .zkey files and compact keys. */
import { compactKeyHeader, HEADER_BYTES, isCompactKey } from "../compact/format.ts";
import { join } from "../compact/join.ts";
import { expandKey } from "../engine/expand-key.ts";
import type { KeyFile } from "../engine/fast-engine.ts";
import { KeyOnDisk } from "../engine/key-on-disk.ts";
import { unlessAborted } from "../errors.ts";
import { LastFile, type Reader, readArtifact, readBytes, type ZKArtifact } from "./files.ts";
import { usesOneThread } from "./threads.ts";

interface Options {
  readonly signal: AbortSignal | undefined;
  readonly singleThread: boolean;
}

/** By them, a compact key is recognized. */
const MAGIC_BYTES = 4;

/** The .zkey file of each compact key, as long as the array of its bytes exists. */
const expanded = new WeakMap<Uint8Array, Promise<Uint8Array>>();

/** Of keys in files. A compact one is read, of a .zkey file only the first bytes: the engine reads the rest where it needs it. */
const last = /* @__PURE__ */ new LastFile<KeyFile>();

/**
 * Reads a proving key, and expands it if it is compact: a download while it arrives.
 * @returns the .zkey file, or where it is
 * @throws Groth16Error CIRCUIT_FILE_UNREADABLE, COMPACT_KEY_INVALID, COMPACT_KEY_UNSUPPORTED, ENGINE_UNSUPPORTED, ABORTED
 */
export async function readKey(source: ZKArtifact, { signal, singleThread }: Options): Promise<KeyFile> {
  const reader: Reader<KeyFile> = {
    kind: "proving key",
    async read(file, place) {
      const start = await readBytes(file, new Uint8Array(Math.min(place.byteLength, MAGIC_BYTES)));
      return isCompactKey(start) ? readBytes(file, new Uint8Array(place.byteLength)) : new KeyOnDisk(place);
    },
    last,
    async receive(response) {
      const { isCompact, pieces } = await peek(piecesOf(response));
      return isCompact ? expandKey(pieces, { singleThread, pageWorkers: true }) : collect(pieces);
    },
  };
  const file = await readArtifact(reader, source, signal);
  if (file instanceof KeyOnDisk || !isCompactKey(file)) return file;
  let key = expanded.get(file);
  if (key === undefined) {
    // Of a file that is cut off in its header, `expandKey` says so.
    const size = file.byteLength < HEADER_BYTES ? 0 : compactKeyHeader(file).originalSize;
    key = expandKey(file, { singleThread: usesOneThread(singleThread, size), pageWorkers: true });
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
  while (size < MAGIC_BYTES) {
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
