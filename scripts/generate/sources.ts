// node scripts/generate/sources.ts [--check]: writes every generated source file, and the inputs in turbo.json files. With
// --check it compares them instead, and compares keys, verifiers and artifacts with the lock.

import { type Generator, runGenerators } from "@sotto/keys/generate/generated-file";
import { assertLocked } from "@sotto/keys/setup/lock";
import { generateRecording } from "../../test/fuzz/support/recording.ts";
import { generators } from "./generators.ts";
import { generateInputs } from "./inputs.ts";

const check = process.argv.includes("--check");

/** Proves again only what has changed, and nothing at all with --check. The proofs need the keys that the lock pins. */
const recording: Generator = async () => {
  if (check) assertLocked();
  return generateRecording(check);
};

await runGenerators(...generators, recording, generateInputs);
