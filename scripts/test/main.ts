// `npm test [-- name...]`: builds, runs every suite and check, two side by side, and ends with one line
// `N passed, N failed`. Names choose some of them. Full output of each is kept in .sotto/test/.
import { spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { eventLines, outcomeLines, seconds, summaryLines } from "./lines.ts";
import { plan } from "./plan.ts";
import { type Outcome, runWork, stopAll, type Work } from "./work.ts";

const root = join(import.meta.dirname, "..", "..");
const HEARTBEAT_MS = 30_000;
const started = performance.now();

function choose(all: Work[], names: string[]): Work[] {
  const matches = ({ name, kind }: Work, wanted: string) =>
    name === wanted || `${kind}s` === wanted || name.startsWith(`${wanted} of `);
  const unknown = names.find((name) => !all.some((work) => matches(work, name)));
  if (unknown !== undefined) {
    const known = ["checks", "suites", ...all.map((work) => work.name)].join(", ");
    console.error(`sotto: UNKNOWN_SUITE: unknown suite "${unknown}"; one of: ${known}`);
    process.exit(1);
  }
  return names.length === 0 ? all : all.filter((work) => names.some((name) => matches(work, name)));
}

/** Runs one after the other what the queue holds; several lanes share a queue. */
async function lane(queue: Work[], counts: Map<string, number>, outcomes: Map<Work, Outcome>): Promise<void> {
  for (let work = queue.shift(); work !== undefined; work = queue.shift()) {
    const { name } = work;
    counts.set(name, 0);
    let told = 0;
    const outcome = await runWork(work, join(root, ".sotto", "test"), (event) => {
      if (event.event === "pass") counts.set(name, (counts.get(name) ?? 0) + 1);
      if (event.event === "fail") told += 1;
      const lines = eventLines(name, event);
      if (lines !== undefined) console.log(lines);
    });
    counts.delete(name);
    outcomes.set(work, outcome);
    console.log(outcomeLines(work, outcome, told));
  }
}

function build(): Outcome {
  console.log("building what changed ...");
  const start = performance.now();
  const { status } = spawnSync("node", ["scripts/run.mjs", "build"], { cwd: root, stdio: "inherit" });
  const failures = status === 0 ? [] : ["the build failed: see above; nothing else was run"];
  const took = (performance.now() - start) / 1000;
  return { passed: status === 0 ? 1 : 0, failed: failures.length, failures, seconds: took };
}

async function main(names: string[]): Promise<boolean> {
  const works = choose(plan(root, process.env["SOTTO_LONG"] === "1"), names);
  const outcomes = new Map<Work, Outcome>();
  const built = build();
  outcomes.set({ name: "build", kind: "check", command: [], cwd: root }, built);
  if (built.failed === 0) {
    const counts = new Map<string, number>();
    const heartbeat = setInterval(() => {
      const now = [...counts].map(([name, count]) => (count === 0 ? name : `${name} (${count} passed so far)`));
      console.log(`... ${seconds((performance.now() - started) / 1000)}: ${now.join(", ")}`);
    }, HEARTBEAT_MS);
    const queue = [...works];
    const lanes = Math.min(2, availableParallelism());
    await Promise.all(Array.from({ length: lanes }, () => lane(queue, counts, outcomes)));
    clearInterval(heartbeat);
  }
  console.log(summaryLines(outcomes, (performance.now() - started) / 1000));
  return [...outcomes.values()].every(({ failed }) => failed === 0);
}

for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)
  process.once(signal, () => {
    stopAll();
    process.exit(code);
  });
process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1;
