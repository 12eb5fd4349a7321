// npm run certify [-- NAME...] [--write]: proves that the shipped circuits are not under-constrained, and compares the
// result with circuits/certificates. npm run certify -- PATH.circom [--library FOLDER]: reports on any circuit.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { certifyFiles, describe, problemLines, type Result, verdict } from "@sotto/certify";
import { CommandError, runCommand } from "@sotto/command/command";
import { circom } from "../circuits/compiler.ts";
import { writeIfChanged } from "../circuits/files.ts";
import { type CircuitName, circomLibraryFolder, parseCircuitNames, root } from "../circuits/paths.ts";
import { readLock } from "../setup/lock.ts";
import { assertCertified, certificatePath, certificateText, certifyCircuit, readCircuit } from "./circuits.ts";

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

/** Compiles any circuit twice and reports what can be proven about it. Exit code 1 unless it is certified. */
async function report(path: string, folders: readonly string[]): Promise<void> {
  const source = resolve(path);
  if (!existsSync(source)) throw new CommandError("SOURCE_MISSING", `no circuit at ${path}`);
  const libraries = [...folders.map((folder) => resolve(folder)), circomLibraryFolder()];
  const scratch = mkdtempSync(join(tmpdir(), "sotto-certify-"));
  try {
    const result = await certifyPath(source, libraries, scratch);
    console.log(`${path}: ${verdict(result)}`);
    for (const line of problemLines(result)) console.log(line);
    // "certified" means that the inputs determine every wire. Some public inputs may themselves follow from the others.
    if (result.certificate.results.length > 0)
      console.log(`  public inputs that the others determine: ${result.certificate.results.join(", ")}`);
    if (result.certificate.unused.length > 0)
      console.log(`  inputs in no constraint: ${result.certificate.unused.join(", ")}`);
    if (verdict(result) !== "certified") process.exitCode = 1;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Certifies the circuit at `source`, compiled with --O2 as circom ships it by default here. */
async function certifyPath(source: string, libraries: readonly string[], scratch: string): Promise<Result> {
  const name = basename(source, ".circom");
  await circom(source, [...libraries.flatMap((folder) => ["-l", folder]), "-o", scratch, "--O2", "--r1cs"]);
  return certifyFiles(await readCircuit(source, libraries, join(scratch, `${name}.r1cs`), join(scratch, "plain")));
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: { write: { type: "boolean", default: false }, library: { type: "string", multiple: true, default: [] } },
    });
  } catch (error) {
    const [problem] = (error as Error).message.split(". ");
    throw new CommandError("UNKNOWN_OPTION", `${problem}; options: --write, --library FOLDER`);
  }
}

if (import.meta.main)
  await runCommand(async () => {
    const { values, positionals } = readArguments();
    const paths = positionals.filter((argument) => argument.endsWith(".circom"));
    for (const path of paths) await report(path, values.library);
    if (paths.length > 0) return;
    for (const name of parseCircuitNames(positionals)) await certifyOne(name, values.write);
  });
