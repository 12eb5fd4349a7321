// The end of a ceremony, and the check of one that anybody can repeat.
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { sha256, sha256File, writeAtomically } from "../circuits/files.ts";
import { artifactPaths } from "../circuits/paths.ts";
import { CommandError } from "../lib/command.ts";
import { type CeremonyPlace, expectPhase1, openCeremony, roundFolder, zkeyIn } from "./ceremony.ts";
import { readContributions } from "./contributions.ts";
import { type Tell, timed } from "./listener.ts";
import { expectFollows, expectMadeFrom, exportVerificationKey } from "./phase2.ts";
import { compareContributions, type FinalFiles, type Transcript } from "./transcript.ts";

/** The text of a circuit's Solidity verifier from its zkey; undefined for one whose proofs no contract checks. */
export type RenderVerifier = (circuit: string, zkey: string, set: string) => Promise<string | undefined>;

export interface FinalPlace extends CeremonyPlace {
  readonly verifier: RenderVerifier;
}

/**
 * Puts the artifacts of a finished ceremony into a folder, laid out as the service and the prover read them, and checks
 * them against the keys that it began with: those are not made from the circuits again.
 * @returns the transcript with the hash of every file; write it where it is published
 * @throws CommandError CEREMONY_OPEN, and what `verifyCeremony` throws
 */
export async function finalise(place: FinalPlace, ptau: string, to: string): Promise<Transcript> {
  const transcript = openCeremony(place);
  const { rounds, set } = transcript;
  if (rounds.at(-1)?.kind !== "beacon")
    throw new CommandError("CEREMONY_OPEN", "a beacon has to end the contributions first");
  const last = roundFolder(place, rounds.length);
  const final: Record<string, FinalFiles> = {};
  for (const { name, r1cs } of place.circuits) {
    const built = artifactPaths(name, join(to, name));
    mkdirSync(built.directory, { recursive: true });
    copyFileSync(r1cs, built.r1cs);
    copyFileSync(artifactPaths(name, join(r1cs, "..")).wasm, built.wasm);
    copyFileSync(zkeyIn(last, name), built.zkey);
    writeAtomically(built.vkey, await exportVerificationKey(built.zkey));
    const source = await place.verifier(name, built.zkey, set);
    final[name] = { ...hashesIn(to, name), ...(source === undefined ? {} : { verifier: sha256(source) }) };
  }
  const finished = { ...transcript, final };
  await verifyCeremony(place, finished, ptau, to, roundFolder(place, 0));
  return finished;
}

function hashesIn(folder: string, circuit: string): Omit<FinalFiles, "verifier"> {
  const { r1cs, wasm, zkey, vkey } = artifactPaths(circuit, join(folder, circuit));
  for (const file of [r1cs, wasm, zkey, vkey])
    if (!existsSync(file)) throw new CommandError("ARTIFACT_MISSING", `${file} is missing`);
  return { r1cs: sha256File(r1cs), wasm: sha256File(wasm), zkey: sha256File(zkey), vkey: sha256File(vkey) };
}

/**
 * Checks everything a transcript says of a folder of artifacts, trusting neither: phase 1 against the public list, each
 * key against its circuit and phase 1, every contribution, the beacon, the verification keys and the Solidity verifiers.
 * That the r1cs is this tree's circuit is the caller's to compare.
 * @param begun folder of the keys without contributions, where they are the caller's own; left out: they are made from the
 * circuits, which takes minutes
 * @throws CommandError CEREMONY_OPEN, TRANSCRIPT_MISMATCH, CONTRIBUTION_INVALID, ZKEY_DAMAGED, ARTIFACT_MISSING, PTAU_UNKNOWN
 */
export async function verifyCeremony(
  place: FinalPlace,
  transcript: Transcript,
  ptau: string,
  folder: string,
  begun?: string,
): Promise<void> {
  const { final, set, circuits, rounds } = transcript;
  if (final === undefined) throw new CommandError("CEREMONY_OPEN", "this transcript has no keys yet");
  // A beacon is public: keys that nobody contributed to, or that whoever came last could choose, deserve no trust.
  if (rounds.length < 2 || rounds.at(-1)?.kind !== "beacon")
    throw new CommandError("CEREMONY_OPEN", "this ceremony is not contributions and a beacon at their end");
  place.tell(`checking ${ptau}`);
  await expectPhase1(transcript, ptau);
  for (const { name } of place.circuits) {
    const expected = final[name];
    const mismatch = (what: string): never => {
      throw new CommandError("TRANSCRIPT_MISMATCH", `${name}: ${what} is not the transcript's`);
    };
    if (expected === undefined) return mismatch("the circuit");
    const found = hashesIn(folder, name);
    for (const kind of ["r1cs", "wasm", "zkey", "vkey"] as const)
      if (found[kind] !== expected[kind]) mismatch(`the ${kind}, SHA-256 ${found[kind]},`);
    if (found.r1cs !== circuits[name]?.r1cs) mismatch("the r1cs of the beginning");
    const { r1cs, zkey } = artifactPaths(name, join(folder, name));
    compareContributions(name, await readContributions(zkey, place.curve), transcript);
    if (rounds.at(-1)?.hashes[name]?.zkey !== found.zkey) mismatch("the zkey of the last round");
    if (sha256(await exportVerificationKey(zkey)) !== expected.vkey) mismatch("the verification key in the zkey");
    const source = await place.verifier(name, zkey, set);
    if ((source === undefined ? undefined : sha256(source)) !== expected.verifier) mismatch("the Solidity verifier");
    const check = (tell: Tell) =>
      begun === undefined
        ? expectMadeFrom(r1cs, ptau, zkey, tell)
        : expectFollows(zkeyIn(begun, name), ptau, zkey, tell);
    const from = begun === undefined ? "the circuit" : "the first keys";
    await timed(place.tell, `${name}: checking all contributions from ${from} on`, check);
  }
}
