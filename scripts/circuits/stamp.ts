import { existsSync, readFileSync } from "node:fs";
import { sha256File, toJson, writeAtomically } from "./files.ts";

/** What a build step wrote last time: a hash of everything it depends on, and of each file it wrote. */
interface Stamp {
  inputs: string;
  outputs: string[];
}

function readStamp(path: string): Partial<Stamp> {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    // None yet, or half a one: the step is done again.
    return {};
  }
}

/** Whether the step of this stamp ran for the same inputs and its outputs are still what it wrote, undamaged. */
export function isFresh(stamp: string, inputs: string, outputs: string[]): boolean {
  const known = readStamp(stamp);
  return (
    known.inputs === inputs &&
    outputs.every((file, index) => existsSync(file) && sha256File(file) === known.outputs?.[index])
  );
}

/** To be called last, with inputs hashed before the step began: a source edited meanwhile makes the stamp stale. */
export function writeStamp(stamp: string, inputs: string, outputs: string[]): void {
  writeAtomically(stamp, toJson({ inputs, outputs: outputs.map(sha256File) } satisfies Stamp));
}
