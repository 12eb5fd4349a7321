// `npm test [-- name...]`: builds, runs every suite and check, two side by side, and ends with one line
// `N passed, N failed`. Names choose some of them. Full output of each is kept in .sotto/test/.
import { spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { plan } from "./plan.ts";
import { type Outcome, runWork, stopAll, type Work } from "./work.ts";

const root = join(import.meta.dirname, "..", "..");
const HEARTBEAT_MS = 30_000;
const started = performance.now();
const seconds = (value: number) => `${value.toFixed(1)} s`;
const indent = (text: string) => text.replaceAll(/^/gm, "       ");

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
    const { name, kind } = work;
    counts.set(name, 0);
    const outcome = await runWork(work, join(root, ".sotto", "test"), (event) => {
      if (event.event === "pass") counts.set(name, (counts.get(name) ?? 0) + 1);
      if (event.event !== "group") return;
      const failed = event.failed > 0 ? `, ${event.failed} failed` : "";
      const result = `${event.passed} passed${failed} (${seconds(event.seconds)})`;
      console.log(`  ${failed === "" ? "ok  " : "FAIL"} ${name}: ${event.title}: ${result}`);
    });
    counts.delete(name);
    outcomes.set(work, outcome);
    const summary = kind === "check" ? "" : `: ${outcome.passed} passed, ${outcome.failed} failed`;
    console.log(`${outcome.failed === 0 ? "ok  " : "FAIL"} ${name}${summary} (${seconds(outcome.seconds)})`);
    for (const failure of outcome.failures) console.log(indent(failure));
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
  const total = (field: "passed" | "failed") =>
    [...outcomes.values()].reduce((sum, outcome) => sum + outcome[field], 0);
  const failing = [...outcomes].filter(([, outcome]) => outcome.failed > 0);
  if (failing.length > 0) console.log("\nfailures:");
  for (const [work, { failures }] of failing)
    for (const failure of failures) console.log(`  ${work.name}: ${failure.split("\n")[0]}`);
  console.log(`\n${seconds((performance.now() - started) / 1000)}; logs in .sotto/test/`);
  console.log(`${total("passed")} passed, ${total("failed")} failed`);
  return total("failed") === 0;
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
