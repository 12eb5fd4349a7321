// Makes NAME.czkey of NAME.zkey: the same key in half of the bytes, for clients on slow lines.
import { existsSync, readFileSync } from "node:fs";
import { compactKey, isCompactKeyOf } from "@sotto/groth16";
import { sha256, writeAtomically } from "./files.ts";
import type { artifactPaths } from "./paths.ts";

/** Writes the compact key of a proving key, unless there is one of the same key. */
export async function makeCompactKey(
  paths: Pick<ReturnType<typeof artifactPaths>, "zkey" | "compactKey">,
): Promise<void> {
  const zkey = readFileSync(paths.zkey);
  const isMade = existsSync(paths.compactKey) && isCompactKeyOf(readFileSync(paths.compactKey), sha256(zkey));
  if (!isMade) writeAtomically(paths.compactKey, await compactKey(zkey));
}
