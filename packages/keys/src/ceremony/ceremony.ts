// The steps of a ceremony that the coordinator and the contributors run.
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { CommandError } from "@sotto/command/command";
import { sha256File, writeAtomically } from "../circuits/files.ts";
import { readContributions } from "../sets/contributions.ts";
import { compareContributions, readTranscript, writeTranscript } from "../sets/transcript.ts";
import { assertBeacon, type Beacon, parseContributor, type Round, type Transcript } from "../sets/transcript-schema.ts";
import {
  assertPhase1,
  assertUnchanged,
  type CeremonyContext,
  hasBeacon,
  hasBegun,
  isFile,
  openCeremony,
  readInitialKey,
  roundFolder,
  transcriptOf,
  zkeyIn,
} from "./context.ts";
import { applyBeacon, assertFollows, contribute, makeKeys } from "./phase2.ts";
import { forEach } from "./progress.ts";
import { readPtau } from "./ptau.ts";

/**
 * Checks phase 1 and makes each circuit's keys from it, without contributions. An interrupted run is resumed: the
 * transcript lists the circuits whose keys are complete.
 * @throws CommandError CEREMONY_EXISTS, PTAU_MISSING, PTAU_DAMAGED, PTAU_UNKNOWN, PTAU_TOO_SMALL
 */
export async function beginCeremony(context: CeremonyContext, set: string, ptau: string): Promise<Transcript> {
  const interrupted = existsSync(transcriptOf(context)) ? readTranscript(transcriptOf(context)) : undefined;
  // A circuit that was added since is missing from a ceremony with contributions: to begin again would erase them.
  if (interrupted !== undefined && (interrupted.rounds.length > 0 || hasBegun(context, interrupted)))
    throw new CommandError("CEREMONY_EXISTS", `${context.folder} already contains a ceremony; choose another name`);
  context.report(`checking ${ptau}`);
  const phase1 = await readPtau(ptau, set.startsWith("rehearsal/"));
  const transcript: Transcript = { version: 1, set, phase1, circuits: {}, rounds: [] };
  const folder = roundFolder(context, 0);
  const made = interrupted?.phase1.blake2b === phase1.blake2b ? interrupted.circuits : {};
  for (const { name, r1cs } of context.circuits) {
    const entry = made[name];
    if (entry?.r1cs !== sha256File(r1cs) || !isFile(zkeyIn(folder, name), entry.zkey)) continue;
    transcript.circuits[name] = entry;
    context.report(`${name}: keeping the keys of an earlier run`);
  }
  mkdirSync(folder, { recursive: true });
  for (const file of readdirSync(folder))
    if (transcript.circuits[basename(file, ".zkey")] === undefined) rmSync(join(folder, file));
  const missing = context.circuits.filter(({ name }) => transcript.circuits[name] === undefined);
  await forEach(missing, context.report, "keys from phase 1", async ({ name, r1cs }, progress) => {
    const zkey = zkeyIn(folder, name);
    writeAtomically(zkey, await makeKeys(r1cs, ptau, progress));
    const { circuitHash } = await readContributions(zkey, context.curve);
    transcript.circuits[name] = { r1cs: sha256File(r1cs), zkey: sha256File(zkey), circuitHash };
    writeTranscript(transcriptOf(context), transcript);
  });
  return transcript;
}

/**
 * Adds a contribution to each circuit's key. It runs on the contributor's machine; the secret exists only in memory, and
 * only during this call.
 * @param from folder with CIRCUIT.zkey of each circuit
 * @param to new folder for the keys with the contribution
 * @returns by circuit, the contribution hash (BLAKE2b-512, hex), which the contributor publishes
 * @throws CommandError NAME_INVALID, ZKEY_DAMAGED, FOLDER_NOT_EMPTY
 */
export async function contributeTo(
  from: string,
  to: string,
  contributor: string,
  { circuits, curve, report }: Pick<CeremonyContext, "circuits" | "curve" | "report">,
): Promise<Record<string, string>> {
  parseContributor(contributor);
  if (existsSync(to)) throw new CommandError("FOLDER_NOT_EMPTY", `${to} already exists; choose another folder`);
  const work = `${to}.part`;
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const hashes: Record<string, string> = {};
  await forEach(circuits, report, "contributing", async ({ name }) => {
    // A truncated file would make snarkjs hang or crash, so our own reader reads it first.
    await readContributions(zkeyIn(from, name), curve);
    await contribute(zkeyIn(from, name), zkeyIn(work, name), contributor);
    hashes[name] = (await readContributions(zkeyIn(work, name), curve)).list.at(-1)!.hash;
  });
  renameSync(work, to);
  return hashes;
}

/**
 * Checks a folder of keys that have one more contribution than the last round, and records that contribution as a round.
 * Accepting the last round's keys again has no effect, so the command can be retried.
 * @throws CommandError CEREMONY_OVER, TRANSCRIPT_MISMATCH, CONTRIBUTION_INVALID, ZKEY_DAMAGED, PTAU_UNKNOWN
 */
export async function acceptRound(context: CeremonyContext, ptau: string, from: string): Promise<Round> {
  const transcript = openCeremony(context);
  if (hasBeacon(transcript))
    throw new CommandError("CEREMONY_OVER", "the beacon has been applied: no more contributions are accepted");
  const last = transcript.rounds.at(-1);
  const isLast = (name: string) => isFile(zkeyIn(from, name), last?.hashes[name]?.zkey);
  if (last !== undefined && context.circuits.every(({ name }) => isLast(name))) return last;
  await assertPhase1(transcript, ptau);
  const kept = roundFolder(context, transcript.rounds.length + 1);
  // The coordinator may already have put the files into the round's folder. Files elsewhere may change during the check, so
  // they are copied first, and the copy is checked and kept.
  const checked = resolve(from) === resolve(kept) ? kept : `${kept}.part`;
  try {
    mkdirSync(checked, { recursive: true });
    for (const { name } of checked === kept ? [] : context.circuits) {
      // Read before copying, so that errors name the sender's file.
      await readContributions(zkeyIn(from, name), context.curve);
      copyFileSync(zkeyIn(from, name), zkeyIn(checked, name));
    }
    const round = await readRound(context, transcript, checked);
    await forEach(context.circuits, context.report, "checking the contribution", ({ name }) =>
      assertFollows(readInitialKey(context, transcript, name), ptau, zkeyIn(checked, name)),
    );
    if (checked !== kept) {
      rmSync(kept, { recursive: true, force: true });
      renameSync(checked, kept);
    }
    // The transcript is written last: if it lacks the round, the round is checked again.
    writeTranscript(transcriptOf(context), { ...transcript, rounds: [...transcript.rounds, round] });
    return round;
  } finally {
    if (checked !== kept) rmSync(checked, { recursive: true, force: true });
  }
}

/**
 * Reads the last contribution to each key in a folder. All must be by one contributor and directly follow the
 * transcript's last round.
 */
async function readRound(context: CeremonyContext, transcript: Transcript, from: string): Promise<Round> {
  const hashes: Round["hashes"] = {};
  let contributor: string | undefined;
  for (const { name } of context.circuits) {
    const zkey = zkeyIn(from, name);
    const found = await readContributions(zkey, context.curve);
    const last = found.list.at(-1);
    compareContributions(name, { ...found, list: found.list.slice(0, -1) }, transcript);
    if (last === undefined) throw new CommandError("TRANSCRIPT_MISMATCH", `${name}: the file has no contribution`);
    contributor ??= last.name;
    if (last.beacon !== undefined || last.name !== contributor)
      throw new CommandError(
        "TRANSCRIPT_MISMATCH",
        `${name}: the contribution is by ${last.name}, expected ${contributor} as for the other circuits`,
      );
    hashes[name] = { contribution: last.hash, zkey: sha256File(zkey) };
  }
  return { contributor: parseContributor(contributor ?? ""), hashes };
}

/**
 * Applies the public beacon, after which no contribution is accepted.
 * @throws CommandError CEREMONY_OVER, NO_CONTRIBUTIONS, BEACON_INVALID
 */
export async function endWithBeacon(context: CeremonyContext, beacon: Beacon): Promise<Round> {
  const transcript = openCeremony(context);
  const { rounds } = transcript;
  if (hasBeacon(transcript)) throw new CommandError("CEREMONY_OVER", "the beacon has already been applied");
  if (rounds.length === 0)
    throw new CommandError(
      "NO_CONTRIBUTIONS",
      "there is no contribution yet, and a beacon alone contains no secret: contribute first",
    );
  assertBeacon(beacon);
  const [before, after] = [roundFolder(context, rounds.length), roundFolder(context, rounds.length + 1)];
  rmSync(after, { recursive: true, force: true });
  mkdirSync(after, { recursive: true });
  const hashes: Round["hashes"] = {};
  await forEach(context.circuits, context.report, "applying the beacon", async ({ name }) => {
    const [from, zkey] = [zkeyIn(before, name), zkeyIn(after, name)];
    // The beacon cannot be applied again, so first check that these are the keys of the accepted round.
    assertUnchanged(from, rounds.at(-1)!.hashes[name]?.zkey);
    await applyBeacon(from, zkey, "beacon", beacon.hash, beacon.iterations);
    const { list } = await readContributions(zkey, context.curve);
    hashes[name] = { contribution: list.at(-1)!.hash, zkey: sha256File(zkey) };
  });
  const round: Round = { contributor: "beacon", beacon, hashes };
  writeTranscript(transcriptOf(context), { ...transcript, rounds: [...rounds, round] });
  return round;
}
