// Makes NAME.czkey of NAME.zkey: the same key in half of the bytes, for clients on slow lines.
import { closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { compactKey, compactKeyHeader } from "@sotto/groth16";
import { sha256, writeAtomically } from "./files.ts";
import type { artifactPaths } from "./paths.ts";

/** Of its header. */
const HEAD_BYTES = 60;

/**
 * Whether a compact key states this SHA-256 and its own size. The hash is compared with the key in it when it is made and when it is
 * expanded.
 */
function states(path: string, hash: string): boolean {
  try {
    const head = Buffer.alloc(HEAD_BYTES);
    const file = openSync(path, "r");
    try {
      readSync(file, head);
      const { hash: stated, compactSize } = compactKeyHeader(head);
      return Buffer.from(stated).toString("hex") === hash && compactSize === fstatSync(file).size;
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
}

/** Writes the compact key of a proving key, unless there is one of the same key. */
export async function makeCompactKey(
  paths: Pick<ReturnType<typeof artifactPaths>, "zkey" | "compactKey">,
): Promise<void> {
  const zkey = readFileSync(paths.zkey);
  if (states(paths.compactKey, sha256(zkey))) return;
  writeAtomically(paths.compactKey, await compactKey(zkey));
}
