import { existsSync, readFileSync } from "node:fs";
import { sha256File, toJson, writeAtomically } from "./files.ts";

/** The record of a build step's last run: a hash of all its inputs, and of each file it wrote. */
interface Stamp {
  inputs: string;
  outputs: string[];
}

function readStamp(path: string): Partial<Stamp> {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    // The stamp is missing or incomplete: the step runs again.
    return {};
  }
}

/** Whether the step last ran with the same inputs and its output files are unchanged since. */
export function isFresh(stamp: string, inputs: string, outputs: string[]): boolean {
  const known = readStamp(stamp);
  return (
    known.inputs === inputs &&
    outputs.every((file, index) => existsSync(file) && sha256File(file) === known.outputs?.[index])
  );
}

/** Call it last, with inputs hashed before the step began, so that a source edited meanwhile makes the stamp stale. */
export function writeStamp(stamp: string, inputs: string, outputs: string[]): void {
  writeAtomically(stamp, toJson({ inputs, outputs: outputs.map(sha256File) } satisfies Stamp));
}
