// The development set as a whole: keys, Solidity verifiers, manifest, and the lock that pins them.
import { makeCompactKey } from "../circuits/compact-key.ts";
import { compressFile } from "../circuits/compress.ts";
import { artifactPaths, type CircuitName } from "../circuits/paths.ts";
import { assertVerifier, exportVerifier } from "../verifiers/export.ts";
import { stopSnarkjs } from "../verifiers/stop-snarkjs.ts";
import { ensureKeys, KeyMaker } from "./development-keys.ts";
import { assertLocked, writeLock } from "./lock.ts";
import { writeManifest } from "./manifest.ts";

const SET = "development";

async function makeKeys(names: readonly CircuitName[]): Promise<Set<CircuitName>> {
  const made = new Set<CircuitName>();
  let running: Promise<KeyMaker> | undefined;
  try {
    for (const name of names) {
      const start = performance.now();
      const maker = () => {
        console.error(`setup: ${name}: making the development key ...`);
        running ??= KeyMaker.start();
        return running;
      };
      if (await ensureKeys(name, maker)) made.add(name);
      const how = made.has(name) ? `${((performance.now() - start) / 1000).toFixed(1)} s` : "unchanged";
      console.error(`setup: ${name}: development key (${how})`);
    }
  } finally {
    await (await running)?.stop();
  }
  return made;
}

async function compressKeys(names: readonly CircuitName[]): Promise<void> {
  for (const name of names) {
    const paths = artifactPaths(name);
    await Promise.all([compressFile(paths.wasm), compressFile(paths.zkey), makeCompactKey(paths)]);
  }
}

async function forVerifiers(
  names: readonly CircuitName[],
  use: typeof assertVerifier | typeof exportVerifier,
): Promise<void> {
  try {
    for (const name of names) await use(name, SET);
  } finally {
    await stopSnarkjs();
  }
}

/**
 * Makes the missing and stale files of the development set and pins them.
 * @param compress whether to compress them for the service, which sends files uncompressed whose compressed form is stale
 * @returns the circuits whose keys were made
 */
export async function makeDevelopmentSet(names: readonly CircuitName[], compress = true): Promise<Set<CircuitName>> {
  const made = await makeKeys(names);
  if (compress) await compressKeys(names);
  writeManifest();
  await forVerifiers(names, exportVerifier);
  writeLock(SET);
  return made;
}

/**
 * Makes the keys if they are missing, and compares verifiers and lock with them.
 * @throws CommandError VERIFIER_STALE, ARTIFACT_CHANGED
 */
export async function assertDevelopmentSet(names: readonly CircuitName[]): Promise<void> {
  await makeKeys(names);
  await compressKeys(names);
  writeManifest();
  await forVerifiers(names, assertVerifier);
  assertLocked(names);
}
