// Generates packages/prover/src/generated/artifacts-lock.ts, the hashes compiled into the prover, from the lock and the
// transcripts.
import { join } from "node:path";
import { root } from "../circuits/paths.ts";
import { type GeneratedFile, header, runGenerators } from "../generate/generated-file.ts";
import { readCeremonies } from "../sets/sets.ts";
import { assertVerifiers } from "../verifiers/export.ts";
import { readLock } from "./lock.ts";

/** A value as TypeScript source: like JSON, without quotes around keys that are identifiers. */
const literal = (value: unknown): string =>
  JSON.stringify(value, undefined, 2)
    .replace(/^(\s*)"([a-z_][a-z0-9_]*)":/gim, "$1$2:")
    .replace(/([^,{[\n])(?=\n\s*[}\]])/g, "$1,");

export async function generateLock(): Promise<GeneratedFile> {
  const transcripts = readCeremonies();
  for (const transcript of transcripts) assertVerifiers(transcript);
  const ceremonies = transcripts.map(({ set, final }) => ({ set, circuits: final ?? {} }));
  const content = [
    header("circuits/artifacts.lock.json and circuits/ceremonies"),
    `export const ARTIFACTS_LOCK = ${literal(readLock())} as const;\n`,
    "/** Of each ceremony whose transcript is in the tree. */",
    `export const CEREMONY_LOCKS = ${literal(ceremonies)} as const;\n`,
  ].join("\n");
  return { path: join(root, "packages", "prover", "src", "generated", "artifacts-lock.ts"), content };
}

if (import.meta.main) await runGenerators(generateLock);
