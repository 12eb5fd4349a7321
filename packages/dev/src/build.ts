// Builds everything that is missing or has changed according to turbo's cache, and shows what it builds.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { CommandError } from "@sotto/command/command";
import { exclusively } from "@sotto/command/exclusive";
import { elapsed, lastDuration, type Progress, recordDuration } from "@sotto/command/progress";
import { root } from "@sotto/keys/circuits/paths";

/** How long each step takes on two cores, seconds. The last run's durations replace these. */
const EXPECTED: Readonly<Record<string, number>> = {
  "circuits payment": 40,
  "circuits elgamal_range": 6,
  "circuits withdrawal": 75,
  "circuits note_append": 40,
  "circuits origin": 10,
  "keys payment": 5,
  "keys elgamal_range": 2,
  "keys withdrawal": 12,
  "keys note_append": 4,
  "keys origin": 3,
  contracts: 60,
  packages: 25,
};
/** How many lines of a failed build's output are kept. */
const MAX_LINES = 400;

interface Step {
  /** For example `circuits`; steps of one kind run side by side. */
  readonly kind: string;
  /** For example `payment`; "" if the kind has one step only. */
  readonly part: string;
  readonly start: number;
  readonly expected: number | undefined;
}

/** The steps that run now; shows them in one line. */
class Steps {
  readonly #running = new Map<string, Step>();
  readonly #progress: Progress;
  /** Time at which the last step ended. */
  #since = performance.now();
  #hasBuilt = false;

  constructor(progress: Progress) {
    this.#progress = progress;
  }

  begin(kind: string, part = ""): void {
    const name = nameOf(kind, part);
    if (this.#running.has(name)) return;
    if (!this.#hasBuilt) this.#progress.print("building what is missing (time/expected time)");
    this.#hasBuilt = true;
    const expected = lastDuration(root, name) ?? EXPECTED[name];
    this.#running.set(name, { kind, part, start: performance.now(), expected });
  }

  /** @param result text of the line that stays on the screen; default: the step's name */
  end(kind: string, part = "", result = nameOf(kind, part)): void {
    const name = nameOf(kind, part);
    const step = this.#running.get(name);
    if (step === undefined) return;
    this.#running.delete(name);
    this.#since = performance.now();
    const seconds = (this.#since - step.start) / 1000;
    recordDuration(root, name, seconds);
    this.#progress.print(`  ${result} in ${seconds.toFixed(1)} s`);
  }

  /** At most 80 characters, unless a step takes hours. */
  text(): string {
    const steps = [...this.#running.values()];
    const kinds = [...new Set(steps.map(({ kind }) => kind))];
    if (kinds.length === 0) return `comparing the sources with the last build (${elapsed(this.#since)})`;
    const ofKind = (kind: string) => steps.filter((step) => step.kind === kind);
    const texts = kinds.map((kind) => `${kind} ${ofKind(kind).map(timeOf).join(", ")}`);
    return `  ${texts.join("; ")}`;
  }
}

const nameOf = (kind: string, part: string): string => (part === "" ? kind : `${kind} ${part}`);

/** For example `payment 0:12/0:40`. */
function timeOf({ part, start, expected }: Step): string {
  const times = [(performance.now() - start) / 1000, ...(expected === undefined ? [] : [expected])];
  const text = times.map((time) => `${Math.floor(time / 60)}:${String(Math.floor(time % 60)).padStart(2, "0")}`);
  return `${part === "" ? "" : `${part} `}${text.join("/")}`;
}

/** `@sotto/client:build: text`; a task of the root is `//:contracts:build`. */
const TASK_LINE = /^(@sotto\/([\w-]+)|\/\/):[\w:]+: (.*)$/;
const BUILDS = /^cache (miss|bypass)/;

/**
 * @param command that needs the build, as the user typed it
 * @param signal ends the build
 * @throws CommandError BUILD_FAILED after showing the build's output, INTERRUPTED
 */
export const buildAll = (command: string, progress: Progress, signal: AbortSignal): Promise<void> =>
  exclusively(root, command, () => buildStages(progress, signal), { signal, progress });

async function buildStages(progress: Progress, signal: AbortSignal): Promise<void> {
  const steps = new Steps(progress);
  progress.show(() => steps.text());
  try {
    // The slow stages of a build run in parallel. The final run then finds both in turbo's cache.
    const both = new AbortController();
    const either = AbortSignal.any([signal, both.signal]);
    const stages = [
      turbo(["build", "--filter=@sotto/circuits"], circuitLine(steps), progress, either),
      turbo(["contracts:build"], contractLine(steps), progress, either).then(() => steps.end("contracts")),
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
    steps.end("packages", "", built.length === 1 ? "1 package" : `${built.length} packages`);
  } finally {
    progress.stop();
  }
}

/** Builds a package and all packages that depend on it. @throws CommandError BUILD_FAILED, INTERRUPTED */
export async function buildPackages(names: readonly string[], progress: Progress, signal: AbortSignal): Promise<void> {
  const filters = names.map((name) => `--filter=...{./packages/${name}}`);
  await turbo(["build", ...filters], () => {}, progress, signal);
}

/** Shows the steps that the commands of packages/keys report: a circuit is compiled, its keys are made. */
const circuitLine =
  (steps: Steps) =>
  (_: string, text: string): void => {
    const [, kind, circuit, what = ""] = /^(circuits|setup): (\w+): (.*)$/.exec(text) ?? [];
    if (circuit === undefined) return;
    const step = kind === "circuits" ? "circuits" : "keys";
    if (what.endsWith("...")) steps.begin(step, circuit);
    else steps.end(step, circuit);
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

/** Runs turbo. @param onLine receives each line of a task, with the package's name */
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

/** Omits turbo's own lines and the output of cached tasks. */
const isAboutFailure = (line: string): boolean => TASK_LINE.test(line) && !/: cache hit/.test(line);
