import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress } from "node:zlib";

/** A file as it is sent with `content-encoding: br`. */
export interface CompressedFile {
  readonly path: string;
  /** Compressed bytes. */
  readonly size: number;
}

/**
 * Bytes decompressed at once. With small chunks, handling the chunks of a 50 MB file costs more than decompressing it.
 */
const CHUNK_BYTES = 1 << 20;

/**
 * Finds PATH.br, if it decompresses to exactly the file that the lock names. If it is missing, damaged or outdated, the file is
 * sent uncompressed.
 * @param sha256 the SHA-256 of the file, 64 hex digits
 * @param size the size of the file in bytes; no more is decompressed
 */
export async function findCompressed(path: string, sha256: string, size: number): Promise<CompressedFile | undefined> {
  const compressed = `${path}.br`;
  const hash = createHash("sha256");
  try {
    const found = await stat(compressed);
    await pipeline(
      createReadStream(compressed),
      createBrotliDecompress({ chunkSize: CHUNK_BYTES }),
      async (chunks: AsyncIterable<Buffer>) => {
        let total = 0;
        for await (const chunk of chunks) {
          total += chunk.length;
          if (total > size) throw new Error("it is longer than the file");
          hash.update(chunk);
        }
      },
    );
    return hash.digest("hex") === sha256 ? { path: compressed, size: found.size } : undefined;
  } catch {
    return undefined;
  }
}

/** Whether an Accept-Encoding header (RFC 9110, 12.5.3) names brotli, with a weight above 0. */
export function acceptsBrotli(header: string | string[] | undefined): boolean {
  return String(header ?? "")
    .split(",")
    .map((coding) => coding.split(";").map((part) => part.trim().toLowerCase()))
    .some(([name, ...parameters]) => name === "br" && !parameters.some((each) => /^q=0(\.0{0,3})?$/.test(each)));
}
