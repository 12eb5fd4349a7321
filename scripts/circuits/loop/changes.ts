import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readSources } from "../../../circuits/test/kit/sources.ts";
import { sha256, toJson, writeAtomically } from "../files.ts";
import { buildDirectory } from "../paths.ts";

/** Content hashes of the circuits' sources as they were when all tests of what changed last passed. */
const stamp = join(buildDirectory, ".tested.json");

type Hashes = Record<string, string>;

/** Of every circom file of the project, by its path below circuits/. */
export function hashSources(): Hashes {
  return Object.fromEntries([...readSources()].map(([path, text]) => [path, sha256(text)]));
}

/** The files that are not what they were when their tests passed; all where nobody ran them yet. */
export function changedSince(now: Hashes, path = stamp): string[] {
  let tested: Hashes = {};
  try {
    if (existsSync(path)) tested = JSON.parse(readFileSync(path, "utf8"));
  } catch {
    // Half a file: everything is tested again.
  }
  return Object.keys(now).filter((file) => tested[file] !== now[file]);
}

/** To be called with hashes taken before the tests began: a source edited meanwhile is tested again. */
export function markTested(now: Hashes, path = stamp): void {
  writeAtomically(path, toJson(now));
}
