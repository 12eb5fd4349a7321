// node scripts/generate/sources.ts [--check]: writes every generated source file. With --check it compares them instead, and
// compares keys, verifiers and artifacts with the lock.
import { generateRecording } from "../fuzz/recording.ts";
import { checkLock } from "../setup/lock.ts";
import { generateAbi } from "./abi.ts";
import { generateCircuits } from "./circuits.ts";
import { generateConstants } from "./constants.ts";
import { type Generator, runGenerators } from "./generated-file.ts";
import { generateLock } from "./lock.ts";
import { generateValidator } from "./validator.ts";

const checkArtifacts: Generator = async () => {
  if (process.argv.includes("--check")) checkLock();
  return generateLock();
};

/** Proves again only what has changed, and nothing at all with --check. */
const recording: Generator = () => generateRecording(process.argv.includes("--check"));

await runGenerators(generateCircuits, generateConstants, generateAbi, generateValidator, checkArtifacts, recording);
