// Finishes a ceremony, and verifies a finished one. Anyone can repeat the verification.
import { copyFileSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { CommandError } from "@sotto/command/command";
import { makeCompactKey } from "../circuits/compact-key.ts";
import { compressFile } from "../circuits/compress.ts";
import { sha256, sha256File, writeAtomically } from "../circuits/files.ts";
import { artifactPaths } from "../circuits/paths.ts";
import { readContributions } from "../sets/contributions.ts";
import { compareContributions } from "../sets/transcript.ts";
import type { FinalFiles, Transcript } from "../sets/transcript-schema.ts";
import {
  assertPhase1,
  type CeremonyContext,
  hasBeacon,
  openCeremony,
  readInitialKey,
  roundFolder,
  zkeyIn,
} from "./context.ts";
import { assertFollows, exportVerificationKey, makeKeys } from "./phase2.ts";
import { forEach } from "./progress.ts";

type ArtifactPaths = ReturnType<typeof artifactPaths>;

/** Renders a circuit's Solidity verifier from its zkey; undefined for a circuit whose proofs no contract checks. */
export type RenderVerifier = (circuit: string, zkey: string, set: string) => Promise<string | undefined>;

export interface FinalContext extends CeremonyContext {
  readonly verifier: RenderVerifier;
}

export interface Finished {
  /** The transcript to publish, with the hash of every file. */
  readonly transcript: Transcript;
  /** Sources of the Solidity verifiers, by circuit. */
  readonly verifiers: Readonly<Record<string, string>>;
}

/**
 * Writes the artifacts of a finished ceremony into the folder `to`, one folder for each circuit, and checks all
 * contributions against the ceremony's initial keys. Only `verifyCeremony` recomputes those keys from the circuits.
 * @throws CommandError CEREMONY_OPEN, TRANSCRIPT_MISMATCH, CONTRIBUTION_INVALID, ZKEY_DAMAGED, PTAU_UNKNOWN
 */
export async function finalize(context: FinalContext, ptau: string, to: string): Promise<Finished> {
  const transcript = openCeremony(context);
  assertBeaconApplied(transcript);
  context.report(`checking ${ptau}`);
  await assertPhase1(transcript, ptau);
  rmSync(to, { recursive: true, force: true });
  const last = roundFolder(context, transcript.rounds.length);
  const final: Record<string, FinalFiles> = {};
  const verifiers: Record<string, string> = {};
  await forEach(context.circuits, context.report, "checking all contributions", async ({ name, r1cs }) => {
    const built = artifactPaths(name, join(to, name));
    mkdirSync(built.folder, { recursive: true });
    copyFileSync(r1cs, built.r1cs);
    copyFileSync(artifactPaths(name, join(r1cs, "..")).wasm, built.wasm);
    copyFileSync(zkeyIn(last, name), built.zkey);
    await assertMatchesLastRound(context, transcript, name, built);
    await assertFollows(readInitialKey(context, transcript, name), ptau, built.zkey);
    writeAtomically(built.vkey, await exportVerificationKey(built.zkey));
    final[name] = hashesOf(built);
    await Promise.all([compressFile(built.wasm), compressFile(built.zkey), makeCompactKey(built)]);
    const verifier = await context.verifier(name, built.zkey, transcript.set);
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

/** Requires a secret contribution, and a beacon so that the last contributor cannot choose the result. */
function assertBeaconApplied(transcript: Transcript): void {
  if (transcript.rounds.length < 2 || !hasBeacon(transcript))
    throw new CommandError(
      "CEREMONY_OPEN",
      "the ceremony is not finished: it needs at least one contribution, and then a beacon",
    );
}

/** Compares a circuit and its final key with the transcript's rounds, before snarkjs reads them. */
async function assertMatchesLastRound(
  context: CeremonyContext,
  transcript: Transcript,
  name: string,
  { r1cs, zkey }: ArtifactPaths,
) {
  const { circuits, rounds } = transcript;
  if (sha256File(r1cs) !== circuits[name]?.r1cs) mismatch(name, "the r1cs");
  if (sha256File(zkey) !== rounds.at(-1)?.hashes[name]?.zkey) mismatch(name, "the zkey of the last round");
  compareContributions(name, await readContributions(zkey, context.curve), transcript);
}

/**
 * Checks a transcript and a folder of artifacts without trusting either. It compares phase 1 with the public list,
 * recomputes each circuit's initial key, checks every contribution and the beacon, and compares the verification keys
 * and the Solidity verifiers. The caller must check that the r1cs files are those of this tree.
 * @throws CommandError CEREMONY_OPEN, TRANSCRIPT_MISMATCH, CONTRIBUTION_INVALID, ZKEY_DAMAGED, ARTIFACT_MISSING,
 *   PTAU_UNKNOWN
 */
export async function verifyCeremony(
  context: FinalContext,
  transcript: Transcript,
  ptau: string,
  folder: string,
): Promise<void> {
  const { final, set, circuits } = transcript;
  if (final === undefined)
    throw new CommandError(
      "CEREMONY_OPEN",
      "the ceremony is not finished: its coordinator has to run `pnpm ceremony finalize`",
    );
  assertBeaconApplied(transcript);
  context.report(`checking ${ptau}`);
  await assertPhase1(transcript, ptau);
  // The cheap comparisons come first, because making the keys takes minutes.
  for (const { name } of context.circuits) {
    const expected = final[name] ?? mismatch(name, "the circuit");
    const paths = artifactPaths(name, join(folder, name));
    const found = hashesOf(paths);
    for (const kind of ["r1cs", "wasm", "zkey", "vkey"] as const)
      if (found[kind] !== expected[kind]) mismatch(name, `the ${kind}, SHA-256 ${found[kind]},`);
    await assertMatchesLastRound(context, transcript, name, paths);
    if (sha256(await exportVerificationKey(paths.zkey)) !== expected.vkey)
      mismatch(name, "the zkey's verification key");
    const verifier = await context.verifier(name, paths.zkey, set);
    if ((verifier === undefined ? undefined : sha256(verifier)) !== expected.verifier)
      mismatch(name, "the Solidity verifier");
  }
  const step = "making the keys again and checking all contributions";
  await forEach(context.circuits, context.report, step, async ({ name }, progress) => {
    const { r1cs, zkey } = artifactPaths(name, join(folder, name));
    const first = await makeKeys(r1cs, ptau, progress);
    if (sha256(first) !== circuits[name]?.zkey)
      mismatch(name, "the zkey without contributions, made from the circuit,");
    await assertFollows(first, ptau, zkey);
  });
}
