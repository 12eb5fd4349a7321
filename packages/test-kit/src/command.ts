// Runs a command of the checkout as a user does, and collects its output.
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { expect } from "chai";
import { STOPS_AT } from "./programs.ts";

const root = join(import.meta.dirname, "..", "..", "..");

export interface Result {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * @param script its path from the root of the checkout
 * @param watch called with the standard output so far, each time it grows
 * @param variables environment variables in addition to those of this process
 * @param stop the signal that the command sends itself as soon as its output matches
 */
export function command(
  script: string,
  args: readonly string[] = [],
  watch: (stdout: string, child: ChildProcess) => void = () => {},
  variables: NodeJS.ProcessEnv = {},
  stop?: { readonly at: RegExp; readonly signal: "SIGINT" | "SIGKILL" },
): Promise<Result> {
  const before = stop === undefined ? [] : [STOPS_AT, stop.signal, stop.at.source];
  const child = spawn("node", [...before, join(root, script), ...args], {
    cwd: root,
    env: { ...process.env, ...variables },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
    watch(stdout, child);
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (status) => resolve({ status, stdout, stderr }));
  });
}

/** Expects that the command failed with exit code 1 and one line that names the error code, without a stack trace. */
export function expectRefused({ status, stderr }: Result, code: string, ...texts: string[]): void {
  expect(stderr).to.match(new RegExp(`^sotto: ${code}: .*\n$`));
  for (const text of texts) expect(stderr).to.contain(text);
  expect(status).to.equal(1);
}
