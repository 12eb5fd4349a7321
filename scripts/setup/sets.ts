// Which sets of keys there are: the development set, and one for each ceremony whose transcript is in the tree.
import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { readTranscript, type Transcript } from "../ceremony/transcript.ts";
import { circuitsDirectory } from "../circuits/paths.ts";
import { CommandError } from "../lib/command.ts";

/** Below circuits/, the transcript of `ceremony/NAME`. */
export const ceremonyFile = (set: string): string => `${set.replace(/^ceremony\//, "ceremonies/")}.json`;

/** The transcripts of finished ceremonies, in the order of their names. */
export function readCeremonies(directory = join(circuitsDirectory, "ceremonies")): Transcript[] {
  if (!existsSync(directory)) return [];
  const files = readdirSync(directory).filter((file) => file.endsWith(".json"));
  return files.sort().map((file) => readCeremony(join(directory, file)));
}

/**
 * The transcript of a finished ceremony, which must be that of the set the file is named for.
 * @throws CommandError TRANSCRIPT_DAMAGED, TRANSCRIPT_MISSING
 */
export function readCeremony(path: string): Transcript {
  const transcript = readTranscript(path);
  if (basename(path) === basename(ceremonyFile(transcript.set)) && transcript.set.startsWith("ceremony/"))
    return transcript;
  throw new CommandError("TRANSCRIPT_DAMAGED", `${path} is the transcript of ${transcript.set}`);
}
