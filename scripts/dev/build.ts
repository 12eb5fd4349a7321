// Builds what is missing or has changed, and shows what it builds. turbo's cache decides what that is.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { root } from "../circuits/paths.ts";
import { elapsed, lastDuration, type Progress, recordDuration } from "../launcher/progress.mjs";
import { CommandError } from "../lib/command.ts";

/** How long each step takes on two cores, seconds. The last run's durations replace these. */
const EXPECTED: Readonly<Record<string, number>> = { contracts: 60, packages: 30 };
const EXPECTED_COMPILE = 30;
const EXPECTED_KEY = 15;
/** The lines of a failed build that are kept. */
const MAX_LINES = 400;

interface Step {
  /** Shown while it runs, for example `contracts`. */
  readonly name: string;
  readonly start: number;
  readonly expected: number | undefined;
}

/** The steps that run now; shows them in one line. */
class Steps {
  readonly #running = new Map<string, Step>();
  readonly #progress: Progress;
  readonly #start = performance.now();

  constructor(progress: Progress) {
    this.#progress = progress;
  }

  begin(name: string, expected = EXPECTED[name]): void {
    if (this.#running.has(name)) return;
    this.#running.set(name, { name, start: performance.now(), expected: lastDuration(root, name) ?? expected });
  }

  /** @param result for the line that stays */
  end(name: string, result: string): void {
    const step = this.#running.get(name);
    if (step === undefined) return;
    this.#running.delete(name);
    const seconds = (performance.now() - step.start) / 1000;
    recordDuration(root, name, seconds);
    this.#progress.print(`  built ${result} in ${seconds.toFixed(1)} s`);
  }

  has(name: string): boolean {
    return this.#running.has(name);
  }

  text(): string {
    const steps = [...this.#running.values()].map(({ name, start, expected }) => `${name} ${elapsed(start, expected)}`);
    if (steps.length === 0) return `comparing sources with the last build (${elapsed(this.#start)})`;
    return `building ${steps.join(", ")}`;
  }
}

/** `@sotto/client:build: text`; a task of the root is `//:contracts:build`. */
const TASK_LINE = /^(@sotto\/([\w-]+)|\/\/):[\w:]+: (.*)$/;
const BUILDS = /^cache (miss|bypass)/;

/**
 * @param signal ends the build
 * @throws CommandError BUILD_FAILED after showing the build's output, INTERRUPTED
 */
export async function buildAll(progress: Progress, signal: AbortSignal): Promise<void> {
  const steps = new Steps(progress);
  progress.show(() => steps.text());
  try {
    // The stages of a build that take long, at the same time. The last run then finds both in turbo's cache.
    const both = new AbortController();
    const either = AbortSignal.any([signal, both.signal]);
    const stages = [
      turbo(["build", "--filter=@sotto/circuits"], circuitLine(steps), progress, either),
      turbo(["contracts:build"], contractLine(steps), progress, either).then(() => steps.end("contracts", "contracts")),
    ];
    try {
      await Promise.all(stages);
    } catch (error) {
      both.abort();
      await Promise.allSettled(stages);
      throw error;
    }
    const built: string[] = [];
    await turbo(["build", "contracts:build"], packageLine(steps, built), progress, signal);
    steps.end("packages", built.length === 1 ? "1 package" : `${built.length} packages`);
  } finally {
    progress.stop();
  }
}

/** Builds a package and those that depend on it. @throws CommandError BUILD_FAILED, INTERRUPTED */
export async function buildPackages(names: readonly string[], progress: Progress, signal: AbortSignal): Promise<void> {
  const filters = names.map((name) => `--filter=...{./packages/${name}}`);
  await turbo(["build", ...filters], () => {}, progress, signal);
}

/** Follows the lines of scripts/circuits and scripts/setup. */
const circuitLine =
  (steps: Steps) =>
  (_: string, text: string): void => {
    const [, kind, circuit, what = ""] = /^(circuits|setup): (\w+): (.*)$/.exec(text) ?? [];
    if (circuit === undefined) return;
    const name = kind === "circuits" ? `circuit ${circuit}` : `key of ${circuit}`;
    if (what.endsWith("...")) steps.begin(name, kind === "circuits" ? EXPECTED_COMPILE : EXPECTED_KEY);
    else steps.end(name, name);
  };

const contractLine =
  (steps: Steps) =>
  (_: string, text: string): void => {
    if (BUILDS.test(text)) steps.begin("contracts");
  };

/** @param built receives the names of the packages that are built */
const packageLine =
  (steps: Steps, built: string[]) =>
  (task: string, text: string): void => {
    if (!BUILDS.test(text)) return;
    built.push(task);
    steps.begin("packages");
  };

/**
 * Runs turbo.
 * @param onLine receives each line of a task, with the package's name
 */
async function turbo(
  args: readonly string[],
  onLine: (task: string, text: string) => void,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const options = ["--output-logs=new-only", "--ui=stream", "--log-order=stream", "--no-color"];
  const child = spawn("turbo", ["run", ...args, ...options], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const end = () => child.kill("SIGTERM");
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on("line", (line) => {
      lines.push(line);
      if (lines.length > MAX_LINES) lines.shift();
      const [, task, name, text] = TASK_LINE.exec(line) ?? [];
      if (task !== undefined && text !== undefined) onLine(name ?? "contracts", text);
    });
  const status = await new Promise<number | null>((resolve, reject) =>
    child.once("error", reject).once("close", resolve),
  );
  signal.removeEventListener("abort", end);
  if (signal.aborted) throw new CommandError("INTERRUPTED", "interrupted: run the same command again to resume");
  if (status === 0) return;
  const about = lines.filter(isAboutFailure);
  progress.print((about.length === 0 ? lines : about).join("\n"));
  throw new CommandError("BUILD_FAILED", `turbo run ${args.join(" ")} failed: see above`);
}

/** Leaves out turbo's own lines and what it took from its cache. */
const isAboutFailure = (line: string): boolean => TASK_LINE.test(line) && !/: cache hit/.test(line);
