import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { sha256, sha256File, toJson, writeAtomically } from "@sotto/keys/circuits/files";
import { buildFolder, circuitsFolder } from "@sotto/keys/circuits/paths";
import { readSources } from "@sotto/keys/source/sources";
import { VERIFIER_TEMPLATE } from "@sotto/keys/verifiers/export";

/** The file with the source hashes of each state whose tests passed, newest first. */
const stamp = join(buildFolder, ".tested.json");

type Hashes = Record<string, string>;

/** SHA-256 of the verifiers' template and of every circom file of the project, by its path relative to circuits/. */
export function hashSources(): Hashes {
  const circuits = [...readSources()].map(([path, text]) => [path, sha256(text)]);
  return Object.fromEntries([
    ...circuits,
    [relative(circuitsFolder, VERIFIER_TEMPLATE), sha256File(VERIFIER_TEMPLATE)],
  ]);
}

/** Maximum number of states in the file. Because old states are kept, reverting a change needs no new test run. */
const MAX_STATES = 20;

function testedStates(path: string): Hashes[] {
  try {
    const states: unknown = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : [];
    return Array.isArray(states) ? states : [];
  } catch {
    // The file is damaged: everything is tested again.
    return [];
  }
}

/** The files that changed since the most similar tested state; all files if there is no tested state. */
export function changedSince(now: Hashes, path = stamp): string[] {
  const changes = testedStates(path).map((tested) => Object.keys(now).filter((file) => tested[file] !== now[file]));
  return changes.sort((a, b) => a.length - b.length)[0] ?? Object.keys(now);
}

/** Call it with hashes from before the tests began, so that a source edited meanwhile is tested again. */
export function markTested(now: Hashes, path = stamp): void {
  writeAtomically(path, toJson([now, ...testedStates(path)].slice(0, MAX_STATES)));
}
