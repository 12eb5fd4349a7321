// The steps of the loop that run other commands.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { CommandError, type CommandErrorCode } from "@sotto/command/command";
import { circuitsFolder, root } from "@sotto/keys/circuits/paths";
import { generate } from "@sotto/keys/generate/generated-file";
import { generators } from "../generate/generators.ts";
import { compiledFolder } from "../test/scratch.ts";

const MOCHA = ["--reporter", "dot"];

interface Options {
  /** Error code of a failure. */
  code?: CommandErrorCode;
  env?: NodeJS.ProcessEnv;
  /** Kills the command and suppresses its output. */
  stop?: AbortSignal;
}

/**
 * Runs a command. Commands run in parallel, so the output is printed only after the command ends, and only if it fails.
 * @returns the output
 * @throws CommandError `code` (default STEP_FAILED) unless it exits with 0
 */
async function run(command: string, args: string[], cwd: string, { code = "STEP_FAILED", env, stop }: Options = {}) {
  const environment = { ...process.env, NODE_COMPILE_CACHE: compiledFolder(root), ...env };
  const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"], env: environment });
  stop?.addEventListener("abort", () => child.kill());
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  const status = await new Promise<number | null>((resolve, reject) =>
    child.once("error", reject).once("close", resolve),
  );
  if (status === 0) return output;
  if (!stop?.aborted) process.stderr.write(output);
  throw new CommandError(code, `${command} ${args[0]}: see above`);
}

/** Runs tests and prints how many passed. @param what the subject of the tests, for the output */
async function test(what: string, command: string, args: string[], cwd: string, options: Options = {}): Promise<void> {
  const output = await run(command, args, cwd, { code: "TESTS_FAILED", ...options });
  console.error(`circuits: ${what}: ${/\d+ passing \(.*\)/.exec(output)?.[0] ?? "nothing to test"}`);
}

/** Writes the generated sources: signal names, order and types, hashes, the ABI. */
export async function generateSources(): Promise<void> {
  console.error(`generate: ${await generate(generators, false)}`);
}

/** Builds the packages that contain generated sources; the circuits that they depend on are built already. */
export async function buildPackages(): Promise<void> {
  const packages = ["--only", "--filter=@sotto/protocol", "--filter=@sotto/prover"];
  await run("turbo", ["run", "build", ...packages, "--output-logs=errors-only", "--ui=stream"], root);
}

/** Compiles the contracts whose verifiers changed. */
export async function buildContracts(): Promise<void> {
  await run("hardhat", ["build", "--quiet"], root);
}

/** Proves the history of the invariant tests with the new keys. Needs the built packages, which make and check its proofs. */
export async function recordHistory(): Promise<void> {
  process.stderr.write(await run("node", ["test/fuzz/support/recording.ts"], root));
}

/** Runs the circuits' tests; of the attack tests only those on circuits that depend on a changed file. */
export async function testCircuits(
  what: string,
  files: readonly string[],
  changed: readonly string[],
  stop?: AbortSignal,
): Promise<void> {
  if (files.length === 0) return;
  const env = { SOTTO_CHANGED_CIRCUITS: changed.join(",") };
  await test(what, "mocha", [...files, ...MOCHA], circuitsFolder, { env, ...(stop && { stop }) });
}

/** Tests proofs of the changed circuits with their new keys, in both engines. Needs the built packages. */
export async function testProofs(circuits: readonly string[]): Promise<void> {
  const proofs = ["test/circuits.test.ts", ...MOCHA, "--grep", circuits.join("|")];
  if (circuits.length > 0) await test("proofs", "mocha", proofs, join(root, "packages", "prover"));
}

/** Compiles the exported verifiers and tests them on a chain. Needs the built packages. */
export async function testVerifiers(): Promise<void> {
  const verifiers = ["test", "mocha", "test/contracts/verifiers.test.ts"];
  await test("verifiers", "hardhat", verifiers, root);
}
