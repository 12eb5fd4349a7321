// node scripts/circuits/loop/main.ts [--watch]: the loop for developing circuits. It compiles changed circuits,
// shows their cost, makes development keys, exports verifiers and types, and runs the tests of the changed files.

import { certifyChanged } from "../../certify/changed.ts";
import { checkFree } from "../../certify/free.ts";
import { generateCircuits } from "../../generate/circuits.ts";
import { generate } from "../../generate/generated-file.ts";
import { CommandError, errorLine, runCommand } from "../../lib/command.ts";
import { makeDevelopmentSet } from "../../setup/development-set.ts";
import { checkTable, compileOnly } from "../compile.ts";
import { circuitNames } from "../paths.ts";
import { changedSince, hashSources, markTested } from "./changes.ts";
import { committedCounts, countTable, writeCounts } from "./counts.ts";
import { circuitsOf, testsOf } from "./select.ts";
import { generateTypes, testCircuits, testKeys } from "./steps.ts";
import { uncommitted } from "./uncommitted.ts";
import { watchCircuits } from "./watch.ts";

async function turn(): Promise<void> {
  const start = performance.now();
  const sources = hashSources();
  const changed = changedSince(sources);
  const tests = testsOf(changed);
  const attacks = tests.filter((file) => file.includes("/soundness/"));
  const others = tests.filter((file) => !attacks.includes(file));
  const stop = new AbortController();
  // The attack tests compile their own circuits and need no keys, so they start at once; a build error stops them.
  const attacked = changed.length === 0 ? Promise.resolve() : testCircuits("attacks", attacks, changed, stop.signal);
  const built = build().catch((error: unknown) => {
    stop.abort();
    throw error;
  });
  await all([built.then(() => testBuilt(others, changed, changed.length === Object.keys(sources).length)), attacked]);
  markTested(sources);
  console.error(`circuits: done in ${((performance.now() - start) / 1000).toFixed(1)} s`);
  const rest = uncommitted();
  if (rest.length > 0)
    console.error(`circuits: after npm test has passed, commit these files together: ${rest.join(", ")}`);
}

/** Compiles the circuits, updates their counts, checks the free signals, certifies the circuits, makes keys, and exports verifiers and types. */
async function build(): Promise<void> {
  const compiled = await compileOnly(circuitNames);
  console.error(`\n${countTable(compiled, committedCounts())}\n`);
  writeCounts(compiled);
  checkTable(compiled);
  checkFree(circuitNames);
  // Before the keys, because a circuit that leaves a signal free needs no keys.
  await certifyChanged(circuitNames);
  // The setup below reads these files.
  await generate([generateCircuits], false);
  await makeDevelopmentSet(circuitNames);
  await generateTypes();
}

/** Tests the built circuits; runs in parallel with the attack tests. @param whole whether every circuit changed */
async function testBuilt(tests: readonly string[], changed: readonly string[], whole: boolean): Promise<void> {
  if (changed.length === 0) return console.error("circuits: unchanged since their tests passed");
  console.error(`circuits: testing ${whole ? "all circuits" : `what depends on ${changed.join(", ")}`} ...`);
  await all([testCircuits("gadgets and mains", tests, changed), testKeys(circuitsOf(changed))]);
}

/** Waits for all runs, because the next turn writes the files they read; then throws the first error. */
async function all(runs: readonly Promise<void>[]): Promise<void> {
  for (const run of await Promise.allSettled(runs)) if (run.status === "rejected") throw run.reason;
}

const options = process.argv.slice(2);
await runCommand(async () => {
  const unknown = options.find((option) => option !== "--watch");
  if (unknown !== undefined)
    throw new CommandError("UNKNOWN_OPTION", `cannot read "${unknown}"; the only option is --watch`);
  if (!options.includes("--watch")) return turn();
  const end = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => end.abort());
  await watchCircuits(async () => {
    // An error does not end the loop: the next save starts the next turn.
    await turn().catch((error: unknown) => console.error(errorLine(error)));
    if (!end.signal.aborted) console.error("circuits: waiting for a change ...");
  }, end.signal);
});
