// `npm test [-- NAME...] [--affected]`: builds, has turbo run every check and then every suite whose inputs changed, up
// to four at a time, and ends with one line `N passed, N failed`. Names select suites and checks. `--affected` runs only
// the suites and types of packages that differ from the branch main (uncommitted changes included) or that depend on one
// that does. For everything that has not changed since it passed, turbo restores the results from its cache.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { openLanes } from "./lanes.ts";
import { type RunSummary, readOutcome } from "./outcome.ts";
import { type Outcome, seconds, summaryLines } from "./output.ts";
import { parseReport, reportBase } from "./report.ts";
import { compiledFolder, deploymentFile } from "./scratch.ts";
import { isNamed, LONGEST, listAffected, listTasks, type Task } from "./tasks.ts";

const root = join(import.meta.dirname, "..", "..");
const runs = join(root, ".turbo", "runs");
const HEARTBEAT_MS = 30_000;
const STREAM = ["--ui=stream", "--log-order=stream"];
const started = performance.now();
const running = new Set<ChildProcess>();

function choose(all: readonly Task[], names: readonly string[]): readonly Task[] {
  const unknown = names.find((name) => !all.some((task) => isNamed(task, name)));
  if (unknown !== undefined) {
    const known = ["checks", "suites", ...all.map(({ name }) => name)].join(", ");
    console.error(`sotto: UNKNOWN_SUITE: unknown suite "${unknown}"; one of: ${known}`);
    process.exit(1);
  }
  return names.length === 0 ? all : all.filter((task) => names.some((name) => isNamed(task, name)));
}

/** Runs turbo and prints its output, without the lines that pnpm and turbo print about themselves. */
async function turbo(args: readonly string[], variables: NodeJS.ProcessEnv = {}): Promise<number> {
  const env = { ...process.env, ...variables };
  const child = spawn("turbo", ["run", ...args], { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  running.add(child);
  const chatter =
    /^(\$ |> | *• |turbo \d| *$)|cache (miss|hit|bypass)|^ *(Tasks|Cached|Time|Failed|Summary):| ERROR +(run|command) /;
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on("line", (line) => {
      if (!chatter.test(line)) console.log(line);
    });
  const status = await new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
  running.delete(child);
  return status;
}

/** turbo's summary of its last run; undefined if the run did not complete. */
function takeSummary(): RunSummary | undefined {
  const names = existsSync(runs) ? readdirSync(runs).filter((name) => name.endsWith(".json")) : [];
  const [name] = names;
  return name === undefined ? undefined : (JSON.parse(readFileSync(join(runs, name), "utf8")) as RunSummary);
}

/** The suites that are still running, whose reports have no end yet, with the number of tests passed so far. */
function progress(tasks: readonly Task[]): string {
  const texts = tasks.flatMap(({ name, kind, folder, script }) => {
    const file = `${join(root, folder, reportBase(script))}.jsonl`;
    if (kind === "check" || !existsSync(file)) return [];
    const { passed, exit } = parseReport(readFileSync(file, "utf8"));
    return exit === undefined ? [`${name} (${passed.length} passed so far)`] : [];
  });
  return texts.join(", ");
}

async function build(): Promise<Outcome> {
  console.log("building what changed ...");
  const status = await turbo(["build", "contracts:build", "--output-logs=new-only", ...STREAM]);
  const failures = status === 0 ? [] : ["the build failed (see above); no test was run"];
  return { name: "build", passed: status === 0 ? 1 : 0, failures, cached: false, tests: [] };
}

/** Runs tasks with turbo. @param concurrency number of tasks that turbo runs at the same time */
async function runTasks(
  tasks: readonly Task[],
  concurrency: number,
  variables: NodeJS.ProcessEnv = {},
): Promise<Outcome[]> {
  if (tasks.length === 0) return [];
  rmSync(runs, { recursive: true, force: true });
  const options = ["--continue=always", `--concurrency=${concurrency}`, "--summarize", "--log-prefix=none", ...STREAM];
  await turbo([...tasks.map(({ id }) => id), ...options], variables);
  const summary = takeSummary();
  return tasks.map((task) => readOutcome(root, task, summary));
}

/** Runs the checks and then the suites: turbo starts checks too late if it has suites to run. */
async function test(tasks: readonly Task[]): Promise<Outcome[]> {
  // An earlier run that was stopped may have left a report without an end, which does not belong to this run.
  for (const { kind, folder, script } of tasks) {
    const file = `${join(root, folder, reportBase(script))}.jsonl`;
    if (kind === "suite" && existsSync(file) && parseReport(readFileSync(file, "utf8")).exit === undefined)
      rmSync(file);
  }
  const cores = availableParallelism();
  // Suites often wait for blocks, for timers or for a browser, so more of them run than there are cores.
  const lanes = await openLanes(Math.min(4, cores + 2), LONGEST);
  const heartbeat = setInterval(() => {
    const took = seconds((performance.now() - started) / 1000);
    console.log(`... ${took}: ${progress(tasks)}; ${lanes.waiting()} suites wait`);
  }, HEARTBEAT_MS);
  const of = (kind: Task["kind"]) => tasks.filter((task) => task.kind === kind);
  const checks = await runTasks(of("check"), Math.min(3, cores + 1));
  // turbo starts every suite at once, and each waits for a lane.
  const suites = await runTasks(of("suite"), tasks.length, { SOTTO_TEST_LANES: String(lanes.port) });
  lanes.close();
  clearInterval(heartbeat);
  return [...checks, ...suites];
}

async function main(args: readonly string[]): Promise<boolean> {
  const names = args.filter((arg) => !arg.startsWith("--"));
  const options = args.filter((arg) => arg.startsWith("--"));
  const unknown = options.find((option) => option !== "--affected");
  if (unknown !== undefined) {
    console.error(`sotto: UNKNOWN_OPTION: unknown option "${unknown}"; there is --affected`);
    return false;
  }
  const tasks = choose(options.length === 0 ? listTasks(root) : listAffected(root), names);
  for (const shared of [compiledFolder(root), deploymentFile(root)]) rmSync(shared, { recursive: true, force: true });
  const built = await build();
  const outcomes = [built, ...(built.failures.length === 0 ? await test(tasks) : [])];
  console.log(summaryLines(outcomes, (performance.now() - started) / 1000));
  return outcomes.every(({ failures }) => failures.length === 0);
}

for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)
  process.once(signal, () => {
    for (const child of running) child.kill("SIGTERM");
    process.exit(code);
  });
process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1;
