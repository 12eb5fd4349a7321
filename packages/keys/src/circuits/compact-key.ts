// Makes NAME.czkey of NAME.zkey: the same key in half of the bytes, for clients on slow lines.
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { compactKey, compactKeyHeader } from "@sotto/groth16";
import { sha256, writeAtomically } from "./files.ts";
import type { artifactPaths } from "./paths.ts";

/** Of its header. */
const HEAD_BYTES = 60;

/** Whether a compact key states this SHA-256. It is compared with the key in it when it is made and when it is expanded. */
function states(path: string, hash: string): boolean {
  try {
    const head = Buffer.alloc(HEAD_BYTES);
    const file = openSync(path, "r");
    try {
      readSync(file, head);
    } finally {
      closeSync(file);
    }
    return Buffer.from(compactKeyHeader(head).hash).toString("hex") === hash;
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
