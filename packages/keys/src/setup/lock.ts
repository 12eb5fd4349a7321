import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { CommandError } from "@sotto/command/command";
import { sha256File, toJson, writeIfChanged } from "../circuits/files.ts";
import { artifactPaths, type CircuitName, circuitNames, circuitsFolder, root } from "../circuits/paths.ts";
import { verifierPath } from "../verifiers/export.ts";

/** SHA-256 in hex of a circuit's files; `verifier` only if the chain checks its proofs. */
export interface ArtifactHashes {
  r1cs: string;
  wasm: string;
  zkey: string;
  vkey: string;
  verifier?: string;
}

/** circuits/artifacts.lock.json. `set` names the origin of the keys: `development` or `ceremony`. */
export interface ArtifactLock {
  set: string;
  circuits: Partial<Record<CircuitName, ArtifactHashes>>;
}

const lockPath = join(circuitsFolder, "artifacts.lock.json");

/** The files the lock pins for one circuit. */
export function lockedFiles(name: CircuitName): [key: keyof ArtifactHashes, path: string][] {
  const { r1cs, wasm, zkey, vkey } = artifactPaths(name);
  const verifier = verifierPath(name);
  return [
    ["r1cs", r1cs],
    ["wasm", wasm],
    ["zkey", zkey],
    ["vkey", vkey],
    ...(verifier === undefined ? [] : [["verifier", verifier] as [keyof ArtifactHashes, string]]),
  ];
}

export function readLock(path = lockPath): ArtifactLock {
  if (!existsSync(path))
    throw new CommandError(
      "LOCK_MISSING",
      `${relative(root, path)} is missing: run npm run setup:dev and commit the file`,
    );
  const lock: unknown = JSON.parse(readFileSync(path, "utf8"));
  if (typeof lock !== "object" || lock === null || !("set" in lock) || !("circuits" in lock))
    throw new CommandError("LOCK_DAMAGED", `${relative(root, path)} is not a lock: expected { set, circuits }`);
  return lock as ArtifactLock;
}

function hashFiles(files: [keyof ArtifactHashes, string][]): ArtifactHashes {
  const hashes: Partial<ArtifactHashes> = {};
  for (const [key, path] of files) hashes[key] = sha256File(path);
  return hashes as ArtifactHashes;
}

/** Writes the hashes of the built files into the lock. Circuits that are not built keep their entries. */
export function writeLock(set: string): void {
  const pinned = existsSync(lockPath) ? readLock().circuits : {};
  const circuits: ArtifactLock["circuits"] = {};
  for (const name of circuitNames) {
    const files = lockedFiles(name);
    const built = files.every(([, path]) => existsSync(path));
    const hashes = built ? hashFiles(files) : pinned[name];
    if (hashes !== undefined) circuits[name] = hashes;
  }
  writeIfChanged(lockPath, toJson({ set, circuits } satisfies ArtifactLock));
}

/**
 * Compares the files of the circuits `names` with the lock.
 * @throws CommandError ARTIFACT_CHANGED with each that differs
 */
export function assertLocked(
  names: readonly CircuitName[] = circuitNames,
  lock = readLock(),
  filesOf: typeof lockedFiles = lockedFiles,
): void {
  const changed = names.flatMap((name) =>
    filesOf(name).flatMap(([key, path]) => {
      const expected = lock.circuits[name]?.[key];
      const actual = existsSync(path) ? sha256File(path) : "no file";
      return actual === expected ? [] : [`${relative(root, path)}: ${actual}, expected ${expected ?? "nothing"}`];
    }),
  );
  if (changed.length > 0)
    throw new CommandError(
      "ARTIFACT_CHANGED",
      `artifacts are not the ones pinned in ${relative(root, lockPath)} (SHA-256):\n${changed.join("\n")}\n` +
        "if you changed a circuit, pin it with npm run circuits:build; otherwise the files are damaged: delete circuits/build",
      { inLines: true },
    );
}
