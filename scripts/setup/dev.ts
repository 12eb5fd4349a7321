// node scripts/setup/dev.ts [--check] [NAME ...]: development keys for the compiled circuits, their Solidity verifiers
// and the lock that pins them (also compiled into the prover). What did not change is not made again. With --check nothing in the tree is written: the
// keys are made if they are missing, and verifiers and lock must be what comes out.
import { existsSync } from "node:fs";
import { type CircuitName, parseCircuitNames } from "../circuits/paths.ts";
import { generate } from "../generate/generated-file.ts";
import { generateLock } from "../generate/lock.ts";
import { runCommand } from "../lib/command.ts";
import { ensureKeys, KeyMaker } from "./development-keys.ts";
import { checkLock, writeLock } from "./lock.ts";
import { writeManifest } from "./manifest.ts";
import { exportVerifier, verifierPath } from "./verifiers/export.ts";
import { stopSnarkjs } from "./verifiers/stop-snarkjs.ts";

const SET = "development";

async function makeKeys(names: CircuitName[]): Promise<Set<CircuitName>> {
  const made = new Set<CircuitName>();
  let running: Promise<KeyMaker> | undefined;
  try {
    for (const name of names) {
      const start = performance.now();
      const maker = () => {
        console.error(`setup: ${name}: making the development key ...`);
        running ??= KeyMaker.start();
        return running;
      };
      if (await ensureKeys(name, maker)) made.add(name);
      const how = made.has(name) ? `${((performance.now() - start) / 1000).toFixed(1)} s` : "unchanged";
      console.error(`setup: ${name}: development key (${how})`);
    }
  } finally {
    await (await running)?.stop();
  }
  return made;
}

async function main(): Promise<void> {
  const options = process.argv.slice(2);
  const check = options.includes("--check");
  const names = parseCircuitNames(options.filter((option) => option !== "--check"));
  const made = await makeKeys(names);
  writeManifest();
  try {
    for (const name of names) {
      const path = verifierPath(name);
      if (check || made.has(name) || (path !== undefined && !existsSync(path))) await exportVerifier(name, SET, check);
    }
  } finally {
    await stopSnarkjs();
  }
  if (check) return checkLock(names);
  writeLock(SET);
  console.error(`setup: lock: ${await generate([generateLock], false)}`);
}

await runCommand(main);
