// Which sets of keys there are: the development set, and one for each ceremony whose transcript is in the tree.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { readTranscript, type Transcript } from "../ceremony/transcript.ts";
import { circuitsDirectory } from "../circuits/paths.ts";

/** Below circuits/, the transcript of `ceremony/NAME`. */
export const ceremonyFile = (set: string): string => `${set.replace(/^ceremony\//, "ceremonies/")}.json`;

/** The transcripts of finished ceremonies, in the order of their names. */
export function readCeremonies(directory = join(circuitsDirectory, "ceremonies")): Transcript[] {
  if (!existsSync(directory)) return [];
  const files = readdirSync(directory).filter((file) => file.endsWith(".json"));
  return files.sort().map((file) => readTranscript(join(directory, file)));
}
