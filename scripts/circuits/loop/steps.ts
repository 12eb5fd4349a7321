// The steps of the loop that run other commands.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { CommandError } from "../../lib/command.ts";
import { circuitsDirectory, root } from "../paths.ts";

const MOCHA = ["--timeout", "120000", "--reporter", "dot"];

interface Options {
  /** What a failure is called. */
  code?: string;
  env?: NodeJS.ProcessEnv;
  /** Ends the command, and nothing is shown of it. */
  stop?: AbortSignal;
}

/**
 * Runs a command whose output the developer sees, all at once when it ends: several run side by side.
 * @throws CommandError unless it exits with 0
 */
async function run(command: string, args: string[], cwd: string, { code = "STEP_FAILED", env, stop }: Options = {}) {
  const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
  stop?.addEventListener("abort", () => child.kill());
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  const status = await new Promise<number | null>((resolve, reject) =>
    child.once("error", reject).once("close", resolve),
  );
  if (!stop?.aborted) process.stderr.write(output);
  if (status !== 0) throw new CommandError(code, `${command} ${args[0]}: see above`);
}

/** The generated sources (names, order and input types of the signals, hashes), and the packages that carry them. */
export async function generateTypes(): Promise<void> {
  await run("node", ["scripts/generate/all.ts"], root);
  const packages = ["--filter=@sotto/protocol", "--filter=@sotto/prover"];
  await run("turbo", ["run", "build", ...packages, "--output-logs=errors-only", "--ui=stream"], root);
}

/** Tests of the circuits; of attacks only those on what is made of the changed files. */
export async function testCircuits(
  files: readonly string[],
  changed: readonly string[],
  stop?: AbortSignal,
): Promise<void> {
  const env = { SOTTO_CHANGED_CIRCUITS: changed.join(",") };
  await run("mocha", [...files, ...MOCHA], circuitsDirectory, { code: "TESTS_FAILED", env, ...(stop && { stop }) });
}

/** Proofs of the changed circuits with their new keys, by both engines, and the exported verifiers on a chain. */
export async function testKeys(circuits: readonly string[]): Promise<void> {
  const code = "TESTS_FAILED";
  const proofs = ["test/circuits.test.ts", ...MOCHA, "--grep", circuits.join("|")];
  if (circuits.length > 0) await run("mocha", proofs, join(root, "packages", "prover"), { code });
  await run("hardhat", ["build", "--quiet"], root);
  await run("hardhat", ["test", "mocha", "--no-compile", "test/contracts/verifiers.test.ts"], root, { code });
}
