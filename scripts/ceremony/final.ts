// Finishes a ceremony, and verifies a finished one, which anyone can repeat.
import { copyFileSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { compressFile } from "../circuits/compressed.ts";
import { sha256, sha256File, writeAtomically } from "../circuits/files.ts";
import { artifactPaths } from "../circuits/paths.ts";
import { CommandError } from "../lib/command.ts";
import { readContributions } from "./contributions.ts";
import { assertFollows, exportVerificationKey, makeKeys } from "./phase2.ts";
import { assertPhase1, type CeremonyPlace, isOver, openCeremony, readFirst, roundFolder, zkeyIn } from "./place.ts";
import { forEach } from "./progress.ts";
import type { FinalFiles, Transcript } from "./shape.ts";
import { compareContributions } from "./transcript.ts";

type ArtifactPaths = ReturnType<typeof artifactPaths>;

/** The text of a circuit's Solidity verifier from its zkey; undefined for one whose proofs no contract checks. */
export type RenderVerifier = (circuit: string, zkey: string, set: string) => Promise<string | undefined>;

export interface FinalPlace extends CeremonyPlace {
  readonly verifier: RenderVerifier;
}

export interface Finished {
  /** The transcript with the hash of every file, to be published. */
  readonly transcript: Transcript;
  /** Sources of the Solidity verifiers, by circuit. */
  readonly verifiers: Readonly<Record<string, string>>;
}

/**
 * Writes the artifacts of a finished ceremony into a folder, laid out for the service and the prover, and checks them
 * against the ceremony's first keys. It does not make those keys from the circuits again.
 * @throws CommandError CEREMONY_OPEN, TRANSCRIPT_MISMATCH, CONTRIBUTION_INVALID, ZKEY_DAMAGED, PTAU_UNKNOWN
 */
export async function finalise(place: FinalPlace, ptau: string, to: string): Promise<Finished> {
  const transcript = openCeremony(place);
  assertOver(transcript);
  place.tell(`checking ${ptau}`);
  await assertPhase1(transcript, ptau);
  rmSync(to, { recursive: true, force: true });
  const last = roundFolder(place, transcript.rounds.length);
  const final: Record<string, FinalFiles> = {};
  const verifiers: Record<string, string> = {};
  await forEach(place.circuits, place.tell, "checking all contributions", async ({ name, r1cs }) => {
    const built = artifactPaths(name, join(to, name));
    mkdirSync(built.directory, { recursive: true });
    copyFileSync(r1cs, built.r1cs);
    copyFileSync(artifactPaths(name, join(r1cs, "..")).wasm, built.wasm);
    copyFileSync(zkeyIn(last, name), built.zkey);
    await assertLast(place, transcript, name, built);
    await assertFollows(readFirst(place, transcript, name), ptau, built.zkey);
    writeAtomically(built.vkey, await exportVerificationKey(built.zkey));
    final[name] = hashesOf(built);
    await Promise.all([compressFile(built.wasm), compressFile(built.zkey)]);
    const verifier = await place.verifier(name, built.zkey, transcript.set);
    if (verifier === undefined) return;
    verifiers[name] = verifier;
    final[name].verifier = sha256(verifier);
  });
  return { transcript: { ...transcript, final }, verifiers };
}

function hashesOf({ r1cs, wasm, zkey, vkey }: ArtifactPaths): FinalFiles {
  for (const file of [r1cs, wasm, zkey, vkey])
    if (!existsSync(file)) throw new CommandError("ARTIFACT_MISSING", `${file} is missing`);
  return { r1cs: sha256File(r1cs), wasm: sha256File(wasm), zkey: sha256File(zkey), vkey: sha256File(vkey) };
}

function mismatch(circuit: string, what: string): never {
  throw new CommandError("TRANSCRIPT_MISMATCH", `${circuit}: ${what} differs from the transcript`);
}

/** Keys need a secret contribution, and a beacon so that the last contributor cannot choose the result. */
function assertOver(transcript: Transcript): void {
  if (transcript.rounds.length < 2 || !isOver(transcript))
    throw new CommandError("CEREMONY_OPEN", "the ceremony is not finished: it needs contributions and then a beacon");
}

/** Checks a circuit and its last key against the transcript's rounds, before snarkjs reads them. */
async function assertLast(place: CeremonyPlace, transcript: Transcript, name: string, { r1cs, zkey }: ArtifactPaths) {
  const { circuits, rounds } = transcript;
  if (sha256File(r1cs) !== circuits[name]?.r1cs) mismatch(name, "the r1cs of the beginning");
  if (sha256File(zkey) !== rounds.at(-1)?.hashes[name]?.zkey) mismatch(name, "the zkey of the last round");
  compareContributions(name, await readContributions(zkey, place.curve), transcript);
}

/**
 * Checks a transcript and a folder of artifacts without trusting either: phase 1 against the public list, each key against
 * its circuit and phase 1, every contribution, the beacon, the verification keys and the Solidity verifiers. The caller
 * must check that the r1cs is this tree's circuit.
 * @throws CommandError CEREMONY_OPEN, TRANSCRIPT_MISMATCH, CONTRIBUTION_INVALID, ZKEY_DAMAGED, ARTIFACT_MISSING, PTAU_UNKNOWN
 */
export async function verifyCeremony(
  place: FinalPlace,
  transcript: Transcript,
  ptau: string,
  folder: string,
): Promise<void> {
  const { final, set, circuits } = transcript;
  if (final === undefined)
    throw new CommandError("CEREMONY_OPEN", "the transcript has no keys yet: run `finalise` first");
  assertOver(transcript);
  place.tell(`checking ${ptau}`);
  await assertPhase1(transcript, ptau);
  // Cheap comparisons come first, because making the keys takes minutes.
  for (const { name } of place.circuits) {
    const expected = final[name] ?? mismatch(name, "the circuit");
    const paths = artifactPaths(name, join(folder, name));
    const found = hashesOf(paths);
    for (const kind of ["r1cs", "wasm", "zkey", "vkey"] as const)
      if (found[kind] !== expected[kind]) mismatch(name, `the ${kind}, SHA-256 ${found[kind]},`);
    await assertLast(place, transcript, name, paths);
    if (sha256(await exportVerificationKey(paths.zkey)) !== expected.vkey)
      mismatch(name, "the zkey's verification key");
    const verifier = await place.verifier(name, paths.zkey, set);
    if ((verifier === undefined ? undefined : sha256(verifier)) !== expected.verifier)
      mismatch(name, "the Solidity verifier");
  }
  const step = "checking all contributions, from the circuit on";
  await forEach(place.circuits, place.tell, step, async ({ name }, progress) => {
    const { r1cs, zkey } = artifactPaths(name, join(folder, name));
    const first = await makeKeys(r1cs, ptau, progress);
    if (sha256(first) !== circuits[name]?.zkey) mismatch(name, "the zkey that follows from the circuit");
    await assertFollows(first, ptau, zkey);
  });
}
