import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isCompactKeyOf } from "@sotto/groth16";

/** A file, and its SHA-256 in hex. */
interface FileOfHash {
  readonly path: string;
  readonly sha256: string;
}

/**
 * Finds NAME.czkey beside NAME.zkey, if it states the hash of that key and its own size. It is not expanded, which takes seconds of
 * a core; clients expand it and compare the key in it with their lock. If it is missing, cut or of another key, it is not listed.
 */
export async function findCompactKey(
  zkey: FileOfHash | undefined,
): Promise<(FileOfHash & { readonly size: number }) | undefined> {
  if (zkey === undefined) return undefined;
  const path = zkey.path.replace(/zkey$/, "czkey");
  try {
    const bytes = await readFile(path);
    if (!isCompactKeyOf(bytes, zkey.sha256)) return undefined;
    return { path, sha256: createHash("sha256").update(bytes).digest("hex"), size: bytes.length };
  } catch {
    return undefined;
  }
}
