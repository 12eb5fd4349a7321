import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readSources } from "../../../circuits/test/kit/sources.ts";
import { sha256, toJson, writeAtomically } from "../files.ts";
import { buildDirectory } from "../paths.ts";

/** Content hashes of the circuits' sources as they were when all tests of what changed passed, the latest first. */
const stamp = join(buildDirectory, ".tested.json");

type Hashes = Record<string, string>;

/** Of every circom file of the project, by its path below circuits/. */
export function hashSources(): Hashes {
  return Object.fromEntries([...readSources()].map(([path, text]) => [path, sha256(text)]));
}

/** So many states are remembered: a change that is taken back is then none. */
const REMEMBERED = 20;

function testedStates(path: string): Hashes[] {
  try {
    const states: unknown = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : [];
    return Array.isArray(states) ? states : [];
  } catch {
    // Half a file: everything is tested again.
    return [];
  }
}

/** The files that are not what they were when their tests passed; all where nobody ran them yet. */
export function changedSince(now: Hashes, path = stamp): string[] {
  const changes = testedStates(path).map((tested) => Object.keys(now).filter((file) => tested[file] !== now[file]));
  return changes.sort((a, b) => a.length - b.length)[0] ?? Object.keys(now);
}

/** To be called with hashes taken before the tests began: a source edited meanwhile is tested again. */
export function markTested(now: Hashes, path = stamp): void {
  writeAtomically(path, toJson([now, ...testedStates(path)].slice(0, REMEMBERED)));
}
