// A ceremony's folder, its circuits, and the files in its folder.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CommandError } from "@sotto/command/command";
import type { Curve } from "ffjavascript";
import { sha256File } from "../circuits/files.ts";
import { readTranscript } from "../sets/transcript.ts";
import type { Transcript } from "../sets/transcript-schema.ts";
import type { CeremonyCircuit, Report } from "./progress.ts";
import { readPtau } from "./ptau.ts";

export interface CeremonyContext {
  /**
   * Contains `transcript.json` and, in `rounds/N`, the keys after round N; `rounds/0000` has those without contributions.
   */
  readonly folder: string;
  readonly circuits: readonly CeremonyCircuit[];
  readonly curve: Curve;
  /** Called with a line of progress, because some steps take minutes. */
  readonly report: Report;
}

export const transcriptOf = ({ folder }: CeremonyContext): string => join(folder, "transcript.json");
export const roundFolder = ({ folder }: CeremonyContext, round: number): string =>
  join(folder, "rounds", String(round).padStart(4, "0"));
export const zkeyIn = (folder: string, circuit: string): string => join(folder, `${circuit}.zkey`);

/** Whether the beacon has been applied. */
export const hasBeacon = ({ rounds }: Transcript): boolean => rounds.at(-1)?.beacon !== undefined;

export const hasBegun = ({ circuits }: CeremonyContext, transcript: Transcript): boolean =>
  circuits.every(({ name }) => transcript.circuits[name] !== undefined);

/**
 * @throws CommandError TRANSCRIPT_MISSING, TRANSCRIPT_DAMAGED, CEREMONY_NOT_BEGUN, and CIRCUIT_DIFFERS if a circuit was added
 *   after the first contribution
 */
export function openCeremony(context: CeremonyContext): Transcript {
  const transcript = readTranscript(transcriptOf(context));
  if (hasBegun(context, transcript)) return transcript;
  if (transcript.rounds.length > 0)
    throw new CommandError(
      "CIRCUIT_DIFFERS",
      `${context.folder}: the contributions are to ${Object.keys(transcript.circuits).join(", ")}, and this checkout has ` +
        "more circuits; check out the commit with the ceremony's circuits",
    );
  throw new CommandError("CEREMONY_NOT_BEGUN", `${context.folder}: \`new\` was interrupted; run it again to resume`);
}

export const isFile = (path: string, sha256: string | undefined): boolean =>
  existsSync(path) && sha256File(path) === sha256;

/**
 * Checks a file against the transcript, so that a file damaged on disk is neither used nor reported as a contributor's
 * fault.
 * @throws CommandError ZKEY_DAMAGED
 */
export function assertUnchanged(path: string, sha256: string | undefined): void {
  if (!isFile(path, sha256))
    throw new CommandError(
      "ZKEY_DAMAGED",
      `${path} is damaged: its SHA-256 is not ${sha256}, which the transcript lists`,
    );
}

/** Reads a circuit's key without contributions and checks its hash. @throws CommandError ZKEY_DAMAGED */
export function readInitialKey(context: CeremonyContext, { circuits }: Transcript, circuit: string): Uint8Array {
  const first = zkeyIn(roundFolder(context, 0), circuit);
  assertUnchanged(first, circuits[circuit]?.zkey);
  return readFileSync(first);
}

/** Checks that `ptau` is the phase 1 file of the transcript. @throws CommandError PTAU_UNKNOWN, and as `readPtau` */
export async function assertPhase1({ phase1, set }: Transcript, ptau: string): Promise<void> {
  const { blake2b } = await readPtau(ptau, set.startsWith("rehearsal/"));
  if (blake2b !== phase1.blake2b)
    throw new CommandError(
      "PTAU_UNKNOWN",
      `${ptau} is not the phase 1 of this ceremony: BLAKE2b ${blake2b}, expected ${phase1.blake2b}`,
    );
}
