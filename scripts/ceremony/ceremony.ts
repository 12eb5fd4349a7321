// The steps of a ceremony: those of the coordinator and those of contributors.
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { sha256File, writeAtomically } from "../circuits/files.ts";
import { CommandError } from "../lib/command.ts";
import { readContributions } from "./contributions.ts";
import { applyBeacon, assertFollows, contribute, makeKeys } from "./phase2.ts";
import {
  assertPhase1,
  assertUnchanged,
  type CeremonyPlace,
  hasBegun,
  isFile,
  isOver,
  openCeremony,
  readFirst,
  roundFolder,
  transcriptOf,
  zkeyIn,
} from "./place.ts";
import { forEach } from "./progress.ts";
import { checkPtau } from "./ptau.ts";
import { assertBeacon, type Beacon, parseContributor, type Round, type Transcript } from "./shape.ts";
import { compareContributions, readTranscript, writeTranscript } from "./transcript.ts";

/**
 * Checks phase 1 and makes each circuit's keys from it, without contributions. An interrupted run is resumed: the
 * transcript lists the circuits whose keys are complete.
 * @throws CommandError CEREMONY_EXISTS, PTAU_MISSING, PTAU_DAMAGED, PTAU_UNKNOWN, PTAU_TOO_SMALL
 */
export async function beginCeremony(place: CeremonyPlace, set: string, ptau: string): Promise<Transcript> {
  const cutOff = existsSync(transcriptOf(place)) ? readTranscript(transcriptOf(place)) : undefined;
  if (cutOff !== undefined && hasBegun(place, cutOff))
    throw new CommandError("CEREMONY_EXISTS", `${place.folder} already contains a ceremony; choose another name`);
  place.tell(`checking ${ptau}`);
  const phase1 = await checkPtau(ptau, set.startsWith("rehearsal/"));
  const transcript: Transcript = { version: 1, set, phase1, circuits: {}, rounds: [] };
  const folder = roundFolder(place, 0);
  const made = cutOff?.phase1.blake2b === phase1.blake2b ? cutOff.circuits : {};
  for (const { name, r1cs } of place.circuits) {
    const entry = made[name];
    if (entry?.r1cs !== sha256File(r1cs) || !isFile(zkeyIn(folder, name), entry.zkey)) continue;
    transcript.circuits[name] = entry;
    place.tell(`${name}: keeping the keys of an earlier run`);
  }
  mkdirSync(folder, { recursive: true });
  for (const file of readdirSync(folder))
    if (transcript.circuits[basename(file, ".zkey")] === undefined) rmSync(join(folder, file));
  const missing = place.circuits.filter(({ name }) => transcript.circuits[name] === undefined);
  await forEach(missing, place.tell, "keys from phase 1", async ({ name, r1cs }, progress) => {
    const zkey = zkeyIn(folder, name);
    writeAtomically(zkey, await makeKeys(r1cs, ptau, progress));
    const { circuitHash } = await readContributions(zkey, place.curve);
    transcript.circuits[name] = { r1cs: sha256File(r1cs), zkey: sha256File(zkey), circuitHash };
    writeTranscript(transcriptOf(place), transcript);
  });
  return transcript;
}

/**
 * A contributor's step, on any machine: reads the keys of one folder and writes them with a contribution into another. The
 * secret exists only in memory, and only during this call.
 * @returns the contribution hashes, which the contributor publishes
 * @throws CommandError NAME_INVALID, ZKEY_DAMAGED, FOLDER_NOT_EMPTY
 */
export async function contributeTo(
  from: string,
  to: string,
  contributor: string,
  { circuits, curve, tell }: Pick<CeremonyPlace, "circuits" | "curve" | "tell">,
): Promise<Record<string, string>> {
  parseContributor(contributor);
  if (existsSync(to)) throw new CommandError("FOLDER_NOT_EMPTY", `${to} already exists; choose another folder`);
  const work = `${to}.part`;
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const hashes: Record<string, string> = {};
  await forEach(circuits, tell, "contributing", async ({ name }) => {
    // A truncated file would make snarkjs hang or crash, so our own reader reads it first.
    await readContributions(zkeyIn(from, name), curve);
    await contribute(zkeyIn(from, name), zkeyIn(work, name), contributor);
    hashes[name] = (await readContributions(zkeyIn(work, name), curve)).list.at(-1)!.hash;
  });
  renameSync(work, to);
  return hashes;
}

/**
 * Checks a folder of keys with one more contribution against everything before it, and records it. Repeating the last
 * accepted contribution has no effect, so the command can be retried.
 * @throws CommandError CEREMONY_OVER, TRANSCRIPT_MISMATCH, CONTRIBUTION_INVALID, ZKEY_DAMAGED, PTAU_UNKNOWN
 */
export async function acceptRound(place: CeremonyPlace, ptau: string, from: string): Promise<Round> {
  const transcript = openCeremony(place);
  if (isOver(transcript))
    throw new CommandError("CEREMONY_OVER", "the beacon has been applied: no more contributions are accepted");
  const last = transcript.rounds.at(-1);
  const isLast = (name: string) => isFile(zkeyIn(from, name), last?.hashes[name]?.zkey);
  if (last !== undefined && place.circuits.every(({ name }) => isLast(name))) return last;
  await assertPhase1(transcript, ptau);
  const kept = roundFolder(place, transcript.rounds.length + 1);
  // The files may have been put into the round's folder by hand, without another copy. Any other folder may change during
  // the check, so a copy of it is checked and kept.
  const checked = resolve(from) === resolve(kept) ? kept : `${kept}.part`;
  try {
    mkdirSync(checked, { recursive: true });
    for (const { name } of checked === kept ? [] : place.circuits) {
      // Read before copying, so that errors name the sender's file.
      await readContributions(zkeyIn(from, name), place.curve);
      copyFileSync(zkeyIn(from, name), zkeyIn(checked, name));
    }
    const round = await readRound(place, transcript, checked);
    await forEach(place.circuits, place.tell, "checking the contribution", ({ name }) =>
      assertFollows(readFirst(place, transcript, name), ptau, zkeyIn(checked, name)),
    );
    if (checked !== kept) {
      rmSync(kept, { recursive: true, force: true });
      renameSync(checked, kept);
    }
    // The transcript comes last: without its entry, the round is checked again.
    writeTranscript(transcriptOf(place), { ...transcript, rounds: [...transcript.rounds, round] });
    return round;
  } finally {
    if (checked !== kept) rmSync(checked, { recursive: true, force: true });
  }
}

/** Reads a folder's newest round, which must follow the transcript's last one and have one contributor. */
async function readRound(place: CeremonyPlace, transcript: Transcript, from: string): Promise<Round> {
  const hashes: Round["hashes"] = {};
  let contributor: string | undefined;
  for (const { name } of place.circuits) {
    const zkey = zkeyIn(from, name);
    const found = await readContributions(zkey, place.curve);
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
 * Ends the contributions with a public beacon.
 * @throws CommandError CEREMONY_OVER, NO_CONTRIBUTIONS, BEACON_INVALID
 */
export async function endWithBeacon(place: CeremonyPlace, beacon: Beacon): Promise<Round> {
  const transcript = openCeremony(place);
  const { rounds } = transcript;
  if (isOver(transcript)) throw new CommandError("CEREMONY_OVER", "the beacon has already been applied");
  if (rounds.length === 0)
    throw new CommandError(
      "NO_CONTRIBUTIONS",
      "there is no contribution yet, and a beacon alone is public: contribute first",
    );
  assertBeacon(beacon);
  const [before, after] = [roundFolder(place, rounds.length), roundFolder(place, rounds.length + 1)];
  rmSync(after, { recursive: true, force: true });
  mkdirSync(after, { recursive: true });
  const hashes: Round["hashes"] = {};
  await forEach(place.circuits, place.tell, "applying the beacon", async ({ name }) => {
    const [from, zkey] = [zkeyIn(before, name), zkeyIn(after, name)];
    // A beacon is applied once only, so its input must be the accepted round.
    assertUnchanged(from, rounds.at(-1)!.hashes[name]?.zkey);
    await applyBeacon(from, zkey, "beacon", beacon.hash, beacon.iterations);
    const { list } = await readContributions(zkey, place.curve);
    hashes[name] = { contribution: list.at(-1)!.hash, zkey: sha256File(zkey) };
  });
  const round: Round = { contributor: "beacon", beacon, hashes };
  writeTranscript(transcriptOf(place), { ...transcript, rounds: [...rounds, round] });
  return round;
}
