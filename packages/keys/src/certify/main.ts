// npm run certify [-- NAME...] [--write]: proves that the shipped circuits are not under-constrained, and compares the
// result with circuits/certificates. npm run certify -- FILE...: runs @sotto/certify's program for any other circuit.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { describe } from "@sotto/certify/internal";
import { CommandError, runCommand } from "@sotto/command/command";
import { writeIfChanged } from "../circuits/files.ts";
import { type CircuitName, circomLibraryFolder, parseCircuitNames, root } from "../circuits/paths.ts";
import { readLock } from "../setup/lock.ts";
import { assertCertified, certificatePath, certificateText, certifyCircuit } from "./circuits.ts";

async function certifyOne(name: CircuitName, write: boolean): Promise<void> {
  const start = performance.now();
  // --write accepts a signal that is no longer determined by the others; otherwise this is an error.
  const result = await (write ? certifyCircuit(name, []) : certifyCircuit(name));
  assertCertified(result);
  const locked = readLock().circuits[name]?.r1cs;
  if (locked !== result.certificate.r1cs)
    throw new CommandError(
      "ARTIFACT_CHANGED",
      `${name}.r1cs differs from artifacts.lock.json: run npm run circuits:build`,
    );
  const [path, text] = [certificatePath(name), certificateText(result.certificate)];
  if (write) writeIfChanged(path, text);
  const committed = existsSync(path) ? readFileSync(path, "utf8") : undefined;
  if (committed !== text)
    throw new CommandError(
      "CERTIFICATE_STALE",
      `${relative(root, path)} is not the certificate of the built circuit: run npm run certify -- --write and review the change`,
    );
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${name}: certified, ${describe(result)} (${seconds} s)`);
}

/** The options and files for @sotto/certify's program, which also finds circomlib; undefined if no other circuit is named. */
function otherCircuit(options: readonly string[]): string[] | undefined {
  const isSource = options.some((option) => option.endsWith(".circom"));
  if (!isSource && !options.some((option) => option.endsWith(".r1cs"))) return undefined;
  return isSource ? ["-l", circomLibraryFolder(), ...options] : [...options];
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: { write: { type: "boolean", default: false } },
    });
  } catch (error) {
    const [problem] = (error as Error).message.split(". ");
    throw new CommandError("UNKNOWN_OPTION", `${problem}; option: --write`);
  }
}

if (import.meta.main)
  await runCommand(async () => {
    const other = otherCircuit(process.argv.slice(2));
    if (other !== undefined) {
      const program = fileURLToPath(new URL("main.js", import.meta.resolve("@sotto/certify")));
      const { status } = spawnSync(process.execPath, [program, ...other], { stdio: "inherit" });
      process.exitCode = status ?? 2;
      return;
    }
    const { values, positionals } = readArguments();
    for (const name of parseCircuitNames(positionals)) await certifyOne(name, values.write);
  });
