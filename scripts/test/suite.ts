// `node suite.ts COMMAND...` in the folder of a package, as its script `test` (or `test:2` ...): runs a suite whose
// reporter writes `.test/<script>.jsonl`, writes its output to `.test/<script>.log`, and prints failures immediately. A
// suite that hangs is killed, and fails. The exit code is 0 only if the report is complete and has no failure, because
// turbo caches every task that exits with 0.
import { type ChildProcess, spawn } from "node:child_process";
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { SLOW_MS } from "@sotto/test-kit/slow";
import { cleanEnvironment } from "../launcher/process.mjs";
import { takeLane } from "./lanes.ts";
import { eventLines } from "./output.ts";
import { parseReport, reportBase, type TestEvent } from "./report.ts";
import { compiledFolder, deploymentFile, openScratch } from "./scratch.ts";

const POLL_MS = 500;
const TAIL_LINES = 60;
const root = join(import.meta.dirname, "..", "..");

/** How long a suite may take for one thing, ms. */
export interface Limits {
  /** To its next event. Mocha's own limits end no test that blocks the event loop. */
  readonly silentMs: number;
  /** To the end of its process, after the last test. */
  readonly exitMs: number;
}

/** A slow hook and a slow test can come before an event. */
const LIMITS: Limits = { silentMs: 2 * SLOW_MS + 60_000, exitMs: 120_000 };

const textOf = (file: string): string => (existsSync(file) ? readFileSync(file, "utf8") : "");

/** Calls `report` with each line of a file as it is written. @returns a function that reads the rest and stops */
function follow(file: string, report: (event: TestEvent) => void): () => void {
  let consumed = 0;
  const read = () => {
    const text = textOf(file);
    const end = text.lastIndexOf("\n") + 1;
    for (const line of text.slice(consumed, end).split("\n")) if (line !== "") report(JSON.parse(line) as TestEvent);
    consumed = end;
  };
  const timer = setInterval(read, POLL_MS);
  return () => {
    clearInterval(timer);
    read();
  };
}

/** The reason why a suite counts as failed although no test failed; undefined if there is none. */
function problem(status: string | number, passed: number, failed: number, ended: boolean): string | undefined {
  if (!ended) return `the suite crashed (exit ${status})`;
  if (status !== 0 && failed === 0) return `every test passed, but exit ${status}`;
  if (passed + failed === 0) return "not one test was run";
  return undefined;
}

/** Kills the child if it takes longer than a limit; `lastEvent` is when it wrote its last event, on performance's clock. */
function killIfHung(child: ChildProcess, limits: Limits, lastEvent: () => { at: number; isEnd: boolean }) {
  let reason: string | undefined;
  const timer = setInterval(() => {
    const { at, isEnd } = lastEvent();
    const limit = isEnd ? limits.exitMs : limits.silentMs;
    if (reason !== undefined || performance.now() - at <= limit) return;
    const seconds = `${limit / 1000} s`;
    reason = isEnd
      ? `killed: it had not exited ${seconds} after its last test, so something is still open`
      : `killed: no test or hook ended for ${seconds}`;
    child.kill("SIGKILL");
  }, POLL_MS);
  return {
    /** @returns why the child was killed; undefined if it was not */
    stop(): string | undefined {
      clearInterval(timer);
      return reason;
    },
  };
}

/** @returns whether the whole suite passed */
export async function runSuite(
  folder: string,
  script: string,
  command: readonly string[],
  limits = LIMITS,
): Promise<boolean> {
  const base = join(folder, reportBase(script));
  const [file, log] = [`${base}.jsonl`, `${base}.log`];
  const name = `${relative(root, folder)}${script.replace(/^test:?/, " ").trimEnd()}`;
  mkdirSync(dirname(base), { recursive: true });
  rmSync(file, { force: true });
  // Programs that a test starts are not suites of this run.
  const { SOTTO_TEST_LANES: lanes, ...environment } = process.env;
  if (lanes !== undefined) await takeLane(Number(lanes), name);
  const start = performance.now();
  const output = openSync(log, "w");
  const scratch = openScratch();
  let last = { at: performance.now(), isEnd: false };
  const print = (event: TestEvent) => {
    last = { at: performance.now(), isEnd: event.event === "end" };
    const lines = eventLines(name, event);
    if (lines !== undefined) console.log(lines);
  };
  const [program = "", ...args] = command;
  const child = spawn(program, args, {
    cwd: folder,
    env: {
      ...cleanEnvironment(environment, environment["PATH"] ?? ""),
      SOTTO_TEST_EVENTS: file,
      NODE_COMPILE_CACHE: compiledFolder(root),
      SOTTO_TEST_DEPLOYMENT: deploymentFile(root),
      TMPDIR: scratch.path,
      NO_COLOR: "1",
      FORCE_COLOR: "0",
    },
    stdio: ["ignore", output, output],
    shell: process.platform === "win32",
  });
  const release = endWith(child);
  const stop = follow(file, print);
  const watch = killIfHung(child, limits, () => last);
  const status = await new Promise<string | number>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) => resolve(code ?? signal ?? "unknown"));
  });
  release();
  const killed = watch.stop();
  scratch.remove();
  closeSync(output);
  stop();
  const write = (event: TestEvent) => {
    appendFileSync(file, `${JSON.stringify(event)}\n`);
    print(event);
  };
  const { passed, failed, ended } = parseReport(textOf(file));
  const broken = killed ?? problem(status, passed.length, failed.length, ended);
  if (broken !== undefined) {
    const tail = textOf(log).trimEnd().split("\n").slice(-TAIL_LINES).join("\n");
    // A line truncated by a crash is not an event.
    const text = textOf(file);
    writeFileSync(file, text.slice(0, text.lastIndexOf("\n") + 1));
    write({ event: "fail", title: broken, ms: 0, error: tail });
  }
  const failures = failed.length + (broken === undefined ? 0 : 1);
  const took = (performance.now() - start) / 1000;
  write({ event: "exit", passed: passed.length, failed: failures, seconds: took });
  return failures === 0;
}

/** Kills the child if this process is killed. */
function endWith(child: ChildProcess): () => void {
  const end = () => void child.kill("SIGTERM");
  process.on("SIGINT", end);
  process.on("SIGTERM", end);
  return () => {
    process.off("SIGINT", end);
    process.off("SIGTERM", end);
  };
}

if (import.meta.main)
  process.exitCode = (await runSuite(
    process.cwd(),
    process.env["npm_lifecycle_event"] ?? "test",
    process.argv.slice(2),
  ))
    ? 0
    : 1;
