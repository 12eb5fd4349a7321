/** Decompression with a limit: the input is not trusted. */

interface WithZlib {
  readonly process?: {
    getBuiltinModule?(
      name: "node:zlib",
    ): { inflateRawSync(bytes: Uint8Array, options: { maxOutputLength: number }): Uint8Array } | undefined;
  };
}

/** @returns undefined if the bytes are not deflated, or are not exactly `size` bytes then */
export async function inflateExactly(bytes: Uint8Array, size: number): Promise<Uint8Array | undefined> {
  try {
    const inflated = await inflateAtMost(bytes, size);
    return inflated.byteLength === size ? inflated : undefined;
  } catch {
    return undefined;
  }
}

async function inflateAtMost(bytes: Uint8Array, size: number): Promise<Uint8Array> {
  // As in fast/inflate.ts: Node has streams too, but loading them takes longer.
  const zlib = (globalThis as WithZlib).process?.getBuiltinModule?.("node:zlib");
  if (zlib !== undefined) return zlib.inflateRawSync(bytes, { maxOutputLength: Math.max(size, 1) });
  const inflated = new Uint8Array(size);
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>])
    .stream()
    .pipeThrough(new DecompressionStream("deflate-raw"));
  const reader = stream.getReader();
  for (let offset = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return inflated.subarray(0, offset);
    // A RangeError if there is more.
    inflated.set(value, offset);
    offset += value.byteLength;
  }
}
