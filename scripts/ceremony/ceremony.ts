// A ceremony under way: its folder, its transcript, and the steps of whoever coordinates it.
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Curve } from "ffjavascript";
import { sha256File } from "../circuits/files.ts";
import { CommandError } from "../lib/command.ts";
import { readContributions } from "./contributions.ts";
import { type Tell, timed } from "./listener.ts";
import { applyBeacon, begin, contribute, expectFollows } from "./phase2.ts";
import { checkPtau } from "./ptau.ts";
import { expectBeacon, expectContributor } from "./shape.ts";
import { compareContributions, type Round, readTranscript, type Transcript, writeTranscript } from "./transcript.ts";

/** A circuit whose keys are made. */
export interface CeremonyCircuit {
  readonly name: string;
  /** Compiled. */
  readonly r1cs: string;
}

export interface CeremonyPlace {
  /** Folder of this ceremony: `transcript.json`, and `rounds/N` with the keys after each round, 0 before any. */
  readonly folder: string;
  readonly circuits: readonly CeremonyCircuit[];
  readonly curve: Curve;
  /** Told of each step, because some take minutes. */
  readonly tell: Tell;
}

const transcriptOf = ({ folder }: CeremonyPlace): string => join(folder, "transcript.json");
export const roundFolder = ({ folder }: CeremonyPlace, round: number): string =>
  join(folder, "rounds", String(round).padStart(4, "0"));
export const zkeyIn = (folder: string, circuit: string): string => join(folder, `${circuit}.zkey`);

export const openCeremony = (place: CeremonyPlace): Transcript => readTranscript(transcriptOf(place));

/**
 * Begins: checks phase 1 and makes each circuit's keys from it, without contributions.
 * @throws CommandError CEREMONY_EXISTS, PTAU_MISSING, PTAU_DAMAGED, PTAU_UNKNOWN, PTAU_TOO_SMALL
 */
export async function beginCeremony(place: CeremonyPlace, set: string, ptau: string): Promise<Transcript> {
  if (existsSync(transcriptOf(place)))
    throw new CommandError("CEREMONY_EXISTS", `${place.folder} holds a ceremony already`);
  place.tell(`checking ${ptau}`);
  const phase1 = await checkPtau(ptau, set.startsWith("rehearsal/"));
  const first = roundFolder(place, 0);
  rmSync(first, { recursive: true, force: true });
  mkdirSync(first, { recursive: true });
  const circuits: Record<string, { r1cs: string; circuitHash: string }> = {};
  for (const { name, r1cs } of place.circuits) {
    const zkey = zkeyIn(first, name);
    await timed(place.tell, `${name}: keys from phase 1`, (tell) => begin(r1cs, ptau, zkey, tell));
    const { circuitHash } = await readContributions(zkey, place.curve);
    circuits[name] = { r1cs: sha256File(r1cs), circuitHash };
  }
  const transcript: Transcript = { version: 1, set, phase1, circuits, rounds: [] };
  writeTranscript(transcriptOf(place), transcript);
  return transcript;
}

/**
 * What a contributor does, on any machine: reads the keys of a folder, writes them with a contribution into another. The
 * secret is in memory for as long as it takes, and nowhere else.
 * @returns the contribution hashes, to be published by the contributor
 * @throws CommandError NAME_INVALID, ZKEY_DAMAGED, FOLDER_NOT_EMPTY
 */
export async function contributeTo(
  from: string,
  to: string,
  contributor: string,
  { circuits, curve, tell }: Pick<CeremonyPlace, "circuits" | "curve" | "tell">,
): Promise<Record<string, string>> {
  expectContributor(contributor);
  if (existsSync(to)) throw new CommandError("FOLDER_NOT_EMPTY", `${to} is there already`);
  const work = `${to}.part`;
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const hashes: Record<string, string> = {};
  for (const { name } of circuits) {
    // A file that is cut off would make snarkjs wait or crash: read first by our own reader.
    await readContributions(zkeyIn(from, name), curve);
    await timed(tell, `${name}: contributing`, () => contribute(zkeyIn(from, name), zkeyIn(work, name), contributor));
    hashes[name] = (await readContributions(zkeyIn(work, name), curve)).list.at(-1)!.hash;
  }
  renameSync(work, to);
  return hashes;
}

/**
 * Takes a folder of keys with one more contribution: checks it against everything before it, and writes it down. The last
 * one is taken again, for whoever cannot know whether it was.
 * @throws CommandError CEREMONY_OVER, TRANSCRIPT_MISMATCH, CONTRIBUTION_INVALID, ZKEY_DAMAGED, PTAU_UNKNOWN
 */
export async function acceptRound(place: CeremonyPlace, ptau: string, from: string): Promise<Round> {
  const transcript = openCeremony(place);
  const last = transcript.rounds.at(-1);
  if (last?.kind === "beacon") throw new CommandError("CEREMONY_OVER", "the beacon ended the contributions");
  if (last !== undefined && place.circuits.every(({ name }) => isRound(from, name, last))) return last;
  await expectPhase1(transcript, ptau);
  const kept = roundFolder(place, transcript.rounds.length + 1);
  // It may have been put there by hand, and there be no other copy. Any other folder may change while it is checked: what
  // is kept is what was.
  const checked = resolve(from) === resolve(kept) ? kept : `${kept}.part`;
  try {
    mkdirSync(checked, { recursive: true });
    for (const { name } of checked === kept ? [] : place.circuits) {
      // First, so that what is wrong is said of the sender's file.
      await readContributions(zkeyIn(from, name), place.curve);
      copyFileSync(zkeyIn(from, name), zkeyIn(checked, name));
    }
    const round = await readRound(place, transcript, checked);
    for (const { name } of place.circuits) {
      const first = zkeyIn(roundFolder(place, 0), name);
      const check = (tell: Tell) => expectFollows(first, ptau, zkeyIn(checked, name), tell);
      await timed(place.tell, `${name}: checking the contribution`, check);
    }
    if (checked !== kept) {
      rmSync(kept, { recursive: true, force: true });
      renameSync(checked, kept);
    }
    // Last: a round without its entry is taken anew.
    writeTranscript(transcriptOf(place), { ...transcript, rounds: [...transcript.rounds, round] });
    return round;
  } finally {
    if (checked !== kept) rmSync(checked, { recursive: true, force: true });
  }
}

/** The same phase 1 as at the beginning. @throws CommandError PTAU_UNKNOWN and what reading it throws */
export async function expectPhase1({ phase1, set }: Transcript, ptau: string): Promise<void> {
  const { blake2b } = await checkPtau(ptau, set.startsWith("rehearsal/"));
  if (blake2b !== phase1.blake2b)
    throw new CommandError("PTAU_UNKNOWN", `${ptau} is not the file this ceremony began with: BLAKE2b ${blake2b}`);
}

/** Whether a circuit's file in a folder is that of a round. */
function isRound(folder: string, circuit: string, { hashes }: Round): boolean {
  const zkey = zkeyIn(folder, circuit);
  return existsSync(zkey) && sha256File(zkey) === hashes[circuit]?.zkey;
}

/** The newest round of a folder, which must be one more than the transcript has, by one contributor. */
async function readRound(place: CeremonyPlace, transcript: Transcript, from: string): Promise<Round> {
  const hashes: Record<string, { contribution: string; zkey: string }> = {};
  let common: Pick<Round, "kind" | "contributor"> | undefined;
  for (const { name } of place.circuits) {
    const zkey = zkeyIn(from, name);
    const found = await readContributions(zkey, place.curve);
    const last = found.list.at(-1);
    compareContributions(name, { ...found, list: found.list.slice(0, -1) }, transcript);
    if (last === undefined) throw new CommandError("TRANSCRIPT_MISMATCH", `${name}: nobody contributed to this file`);
    const { kind, name: contributor, hash } = last;
    common ??= { kind, contributor };
    if (kind !== "contribution" || kind !== common.kind || contributor !== common.contributor)
      throw new CommandError(
        "TRANSCRIPT_MISMATCH",
        `${name}: ${kind} of ${contributor}, not one contribution of one person`,
      );
    hashes[name] = { contribution: hash, zkey: sha256File(zkey) };
  }
  return { ...common!, contributor: expectContributor(common!.contributor), hashes };
}

export interface Beacon {
  /** Bytes nobody could know while contributions were made, hex. */
  readonly hash: string;
  readonly iterations: number;
  /** Where they can be looked up. */
  readonly source: string;
}

/**
 * Ends the contributions with a public beacon.
 * @throws CommandError CEREMONY_OVER, NO_CONTRIBUTIONS, BEACON_INVALID
 */
export async function endWithBeacon(place: CeremonyPlace, beacon: Beacon): Promise<Round> {
  const transcript = openCeremony(place);
  const { rounds } = transcript;
  if (rounds.at(-1)?.kind === "beacon") throw new CommandError("CEREMONY_OVER", "the beacon was applied already");
  if (rounds.length === 0) throw new CommandError("NO_CONTRIBUTIONS", "a beacon alone is no secret: contribute first");
  expectBeacon(beacon);
  const [before, after] = [roundFolder(place, rounds.length), roundFolder(place, rounds.length + 1)];
  rmSync(after, { recursive: true, force: true });
  mkdirSync(after, { recursive: true });
  const hashes: Record<string, { contribution: string; zkey: string }> = {};
  for (const { name } of place.circuits) {
    const [from, zkey] = [zkeyIn(before, name), zkeyIn(after, name)];
    // There is no second beacon: it must not end what a disk damaged.
    if (!isRound(before, name, rounds.at(-1)!))
      throw new CommandError("ZKEY_DAMAGED", `${from} is not the file that was accepted`);
    const apply = () => applyBeacon(from, zkey, "beacon", beacon.hash, beacon.iterations);
    await timed(place.tell, `${name}: applying the beacon`, apply);
    const { list } = await readContributions(zkey, place.curve);
    hashes[name] = { contribution: list.at(-1)!.hash, zkey: sha256File(zkey) };
  }
  const round: Round = { kind: "beacon", contributor: "beacon", beacon, hashes };
  writeTranscript(transcriptOf(place), { ...transcript, rounds: [...rounds, round] });
  return round;
}
