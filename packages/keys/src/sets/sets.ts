// The sets of keys: the development set, and one for each ceremony whose transcript is in the tree. Git ignores the
// transcripts of rehearsals.
import { existsSync, readdirSync } from "node:fs";
import { join, sep } from "node:path";
import { CommandError } from "@sotto/command/command";
import { circuitsFolder } from "../circuits/paths.ts";
import { readTranscript } from "./transcript.ts";
import type { Transcript } from "./transcript-schema.ts";

/** Path below circuits/ of the transcript of `ceremony/NAME` or `rehearsal/NAME`. */
export const ceremonyFile = (set: string): string => `ceremonies/${set.replace(/^ceremony\//, "")}.json`;

/** The transcripts of finished ceremonies, sorted by name. */
export function readCeremonies(folder = join(circuitsFolder, "ceremonies")): Transcript[] {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder, { encoding: "utf8", recursive: true }).filter((file) => file.endsWith(".json"));
  return files.sort().map((file) => readCeremony(join(folder, file)));
}

/**
 * Reads the transcript of a finished ceremony, whose set must match the file's name.
 * @throws CommandError TRANSCRIPT_DAMAGED, TRANSCRIPT_MISSING
 */
export function readCeremony(path: string): Transcript {
  const transcript = readTranscript(path);
  if (
    path
      .split(sep)
      .join("/")
      .endsWith(`/${ceremonyFile(transcript.set)}`)
  )
    return transcript;
  throw new CommandError(
    "TRANSCRIPT_DAMAGED",
    `${path} is the transcript of ${transcript.set}; its name must end with ${ceremonyFile(transcript.set)}`,
  );
}
