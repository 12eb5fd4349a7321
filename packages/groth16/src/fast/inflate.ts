import { fromBase64 } from "../base64.ts";

interface WithZlib {
  readonly process?: {
    getBuiltinModule?(name: "node:zlib"): { inflateRawSync(bytes: Uint8Array): Uint8Array } | undefined;
  };
}

/** Decompresses base64 of deflated bytes. Every browser with relaxed SIMD has DecompressionStream. */
export async function inflate(text: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = fromBase64(text);
  // Node has streams too, but loading them takes longer than everything else here.
  const zlib = (globalThis as WithZlib).process?.getBuiltinModule?.("node:zlib");
  if (zlib !== undefined) return new Uint8Array(zlib.inflateRawSync(bytes));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
