// One piece of the test run: a check (passes or fails as a whole, by its exit code) or a mocha suite (counted test by
// test through the reporter's events).
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readEvents, type SuiteEvent } from "./events.ts";

export interface Work {
  readonly name: string;
  readonly kind: "check" | "suite";
  /** Command and arguments, found on the PATH. */
  readonly command: readonly string[];
  /** Folder it runs in. */
  readonly cwd: string;
}

export interface Outcome {
  readonly passed: number;
  readonly failed: number;
  /** One readable text for each failure. */
  readonly failures: readonly string[];
  readonly seconds: number;
}

const running = new Set<ChildProcess>();

/** Ends what still runs; called when the run itself is stopped. */
export function stopAll(): void {
  for (const child of running) child.kill("SIGTERM");
}

/** The last lines of a log: enough to see why something broke without scrolling through a build. */
function tail(file: string, lines = 60): string {
  return readFileSync(file, "utf8").trimEnd().split("\n").slice(-lines).join("\n");
}

/** Runs one piece of work; its output goes to a log file, its progress to `report`. Never rejects. */
export async function runWork(work: Work, folder: string, report: (event: SuiteEvent) => void): Promise<Outcome> {
  mkdirSync(folder, { recursive: true });
  const base = join(folder, work.name.replaceAll(/[^a-z0-9-]+/gi, "-"));
  const log = `${base}.log`;
  const events = `${base}.events`;
  rmSync(events, { force: true });
  const start = performance.now();
  const output = openSync(log, "w");
  const [command = "", ...args] = work.command;
  const child = spawn(command, args, {
    cwd: work.cwd,
    env: { ...process.env, SOTTO_TEST_EVENTS: events, NO_COLOR: "1", FORCE_COLOR: "0" },
    stdio: ["ignore", output, output],
    shell: process.platform === "win32",
  });
  running.add(child);
  const follow = readEvents(events, report);
  const status = await new Promise<string | number>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) => resolve(code ?? signal ?? "unknown"));
  });
  running.delete(child);
  closeSync(output);
  const seen = follow.finish();
  const seconds = (performance.now() - start) / 1000;
  const broken = (reason: string) => `${reason}\n${existsSync(log) ? tail(log) : ""}`;
  if (work.kind === "check") {
    const failures = status === 0 ? [] : [broken(`exit ${status}`)];
    return { passed: 1 - failures.length, failed: failures.length, failures, seconds };
  }
  const failures = seen.flatMap((event) => (event.event === "fail" ? [`${event.title}\n${event.error}`] : []));
  const passed = seen.filter((event) => event.event === "pass").length;
  // A suite that ended early, ended badly without a failing test, or ran nothing has not shown anything.
  if (!seen.some((event) => event.event === "end")) failures.push(broken(`the suite crashed (exit ${status})`));
  else if (status !== 0 && failures.length === 0) failures.push(broken(`every test passed, but exit ${status}`));
  else if (passed + failures.length === 0) failures.push("not one test was run");
  return { passed, failed: failures.length, failures, seconds };
}
