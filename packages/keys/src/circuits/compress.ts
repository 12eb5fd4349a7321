// Compresses NAME.zkey and NAME.wasm to NAME.zkey.br and NAME.wasm.br, which the service sends to clients that accept
// brotli.
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { brotliCompress, brotliDecompressSync, constants } from "node:zlib";
import { writeAtomically } from "./files.ts";

/** Level 5 reduces the payment circuit's proving key to 38 % in two seconds; level 9 takes seven and is no smaller. */
const LEVEL = 5;

function isCompressed(path: string, bytes: Uint8Array): boolean {
  try {
    return brotliDecompressSync(readFileSync(path), { maxOutputLength: bytes.length }).equals(bytes);
  } catch {
    return false;
  }
}

/** Writes PATH.br, unless it exists and decompresses to the file. */
export async function compressFile(path: string): Promise<void> {
  const [bytes, compressed] = [readFileSync(path), `${path}.br`];
  if (isCompressed(compressed, bytes)) return;
  const params = { [constants.BROTLI_PARAM_QUALITY]: LEVEL, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  writeAtomically(compressed, await promisify(brotliCompress)(bytes, { params }));
}
