// The folder of a ceremony and its files.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Curve } from "ffjavascript";
import { sha256File } from "../circuits/files.ts";
import { CommandError } from "../lib/command.ts";
import type { CeremonyCircuit, Tell } from "./progress.ts";
import { checkPtau } from "./ptau.ts";
import type { Transcript } from "./shape.ts";
import { readTranscript } from "./transcript.ts";

export interface CeremonyPlace {
  /** Folder of this ceremony: `transcript.json`, and `rounds/N` with the keys after each round, 0 before any. */
  readonly folder: string;
  readonly circuits: readonly CeremonyCircuit[];
  readonly curve: Curve;
  /** Called with each step, because some take minutes. */
  readonly tell: Tell;
}

export const transcriptOf = ({ folder }: CeremonyPlace): string => join(folder, "transcript.json");
export const roundFolder = ({ folder }: CeremonyPlace, round: number): string =>
  join(folder, "rounds", String(round).padStart(4, "0"));
export const zkeyIn = (folder: string, circuit: string): string => join(folder, `${circuit}.zkey`);

/** Whether the beacon has been applied. */
export const isOver = ({ rounds }: Transcript): boolean => rounds.at(-1)?.beacon !== undefined;

export const hasBegun = ({ circuits }: CeremonyPlace, transcript: Transcript): boolean =>
  circuits.every(({ name }) => transcript.circuits[name] !== undefined);

/** @throws CommandError TRANSCRIPT_MISSING, TRANSCRIPT_DAMAGED, CEREMONY_NOT_BEGUN */
export function openCeremony(place: CeremonyPlace): Transcript {
  const transcript = readTranscript(transcriptOf(place));
  if (hasBegun(place, transcript)) return transcript;
  throw new CommandError("CEREMONY_NOT_BEGUN", `${place.folder}: \`new\` was interrupted; run it again to resume`);
}

export const isFile = (path: string, sha256: string | undefined): boolean =>
  existsSync(path) && sha256File(path) === sha256;

/** A file that the disk damaged must not be used, nor be blamed on a contributor. */
export function assertUnchanged(path: string, sha256: string | undefined): void {
  if (!isFile(path, sha256))
    throw new CommandError("ZKEY_DAMAGED", `${path} is not the file the transcript names, SHA-256 ${sha256}`);
}

/** A circuit's keys before any contribution, as they were written down. @throws CommandError ZKEY_DAMAGED */
export function readFirst(place: CeremonyPlace, { circuits }: Transcript, circuit: string): Uint8Array {
  const first = zkeyIn(roundFolder(place, 0), circuit);
  assertUnchanged(first, circuits[circuit]?.zkey);
  return readFileSync(first);
}

/** The same phase 1 as at the beginning. @throws CommandError PTAU_UNKNOWN and what reading it throws */
export async function assertPhase1({ phase1, set }: Transcript, ptau: string): Promise<void> {
  const { blake2b } = await checkPtau(ptau, set.startsWith("rehearsal/"));
  if (blake2b !== phase1.blake2b)
    throw new CommandError("PTAU_UNKNOWN", `${ptau} is not the file this ceremony began with: BLAKE2b ${blake2b}`);
}
