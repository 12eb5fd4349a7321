// The steps of the loop that run other commands.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { CommandError } from "../../lib/command.ts";
import { circuitsDirectory, root } from "../paths.ts";

const STEP_FAILED = "STEP_FAILED";

/**
 * Runs a command whose output the developer sees, all at once when it ends: several run side by side.
 * @throws CommandError with `code` unless it exits with 0
 */
async function run(command: string, args: string[], cwd: string, code = STEP_FAILED, env: NodeJS.ProcessEnv = {}) {
  const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  const status = await new Promise<number | null>((resolve, reject) =>
    child.once("error", reject).once("close", resolve),
  );
  process.stderr.write(output);
  if (status !== 0) throw new CommandError(code, `${command} ${args[0]}: see above`);
}

/** The generated sources (names, order and input types of the signals, hashes), and the packages that carry them. */
export async function generateTypes(): Promise<void> {
  await run("node", ["scripts/generate/all.ts"], root);
  const packages = ["--filter=@sotto/protocol", "--filter=@sotto/prover"];
  await run("turbo", ["run", "build", ...packages, "--output-logs=errors-only", "--ui=stream"], root);
}

/** Compiles the contracts and tries the exported verifiers. */
export async function testVerifiers(): Promise<void> {
  await run("hardhat", ["build", "--quiet"], root);
  await run("hardhat", ["test", "mocha", "--no-compile", "test/contracts/verifiers.test.ts"], root, "TESTS_FAILED");
}

/** Tests of the circuits; of attacks only those on what is made of the changed files. */
export async function testCircuits(files: string[], changed: readonly string[]): Promise<void> {
  const args = [...files, "--timeout", "120000", "--reporter", "dot"];
  await run("mocha", args, circuitsDirectory, "TESTS_FAILED", { SOTTO_CHANGED_CIRCUITS: changed.join(",") });
}

/** Proofs of the changed circuits with their new keys, by both engines, verified. */
export async function testProofs(circuits: readonly string[]): Promise<void> {
  const args = ["test/circuits.test.ts", "--timeout", "120000", "--reporter", "dot", "--grep", circuits.join("|")];
  await run("mocha", args, join(root, "packages", "prover"), "TESTS_FAILED");
}
