// node packages/keys/src/setup/dev.ts [--check] [NAME ...]: makes development keys for the compiled circuits, their Solidity
// verifiers and the lock that pins them (also compiled into the prover). Unchanged files are kept. With --check nothing
// in the tree is written: missing keys are made, and verifiers and lock are compared.

import { runCommand } from "@sotto/command/command";
import { parseCircuitNames } from "../circuits/paths.ts";
import { generate } from "../generate/generated-file.ts";
import { assertDevelopmentSet, makeDevelopmentSet } from "./development-set.ts";
import { generateLock } from "./lock-source.ts";

async function main(): Promise<void> {
  const options = process.argv.slice(2);
  const names = parseCircuitNames(options.filter((option) => option !== "--check"));
  if (options.includes("--check")) return assertDevelopmentSet(names);
  await makeDevelopmentSet(names);
  console.error(`setup: lock: ${await generate([generateLock], false)}`);
}

await runCommand(main);
