// node scripts/circuits/loop/main.ts [--watch]: what a developer of circuits runs after each change. Compiles what
// changed, shows what it costs, makes development keys, exports verifiers and types, runs the tests of what changed.

import { generateCircuits } from "../../generate/circuits.ts";
import { generate } from "../../generate/generated-file.ts";
import { CommandError, errorLine, runCommand } from "../../lib/command.ts";
import { makeDevelopmentSet } from "../../setup/development-set.ts";
import { checkTable, compileOnly } from "../compile.ts";
import { circuitNames } from "../paths.ts";
import { changedSince, hashSources, markTested } from "./changes.ts";
import { committedCounts, countTable, writeCounts } from "./counts.ts";
import { circuitsOf, testsOf } from "./select.ts";
import { generateTypes, testCircuits, testProofs, testVerifiers } from "./steps.ts";
import { watchCircuits } from "./watch.ts";

async function turn(): Promise<void> {
  const start = performance.now();
  const sources = hashSources();
  const changed = changedSince(sources);
  const compiled = await compileOnly(circuitNames);
  console.error(`\n${countTable(compiled, committedCounts())}\n`);
  writeCounts(compiled);
  checkTable(compiled);
  // The setup below reads what this writes.
  await generate([generateCircuits], false);
  await makeDevelopmentSet(circuitNames);
  await generateTypes();
  if (changed.length === 0) console.error("circuits: nothing changed since its tests passed");
  else {
    console.error(`circuits: testing what is made of ${changed.join(", ")}`);
    const tests = testsOf(changed);
    const attacks = tests.filter((file) => file.includes("/soundness/"));
    const others = tests.filter((file) => !attacks.includes(file));
    // The attacks take about as long as all the rest together.
    const runs = await Promise.allSettled([testCircuits(attacks, changed), testOthers(others, changed)]);
    // Not before both have ended: the next turn writes what they read.
    for (const run of runs) if (run.status === "rejected") throw run.reason;
    markTested(sources);
  }
  console.error(`circuits: done in ${((performance.now() - start) / 1000).toFixed(1)} s`);
}

async function testOthers(tests: string[], changed: readonly string[]): Promise<void> {
  await testCircuits(tests, changed);
  const circuits = circuitsOf(changed);
  if (circuits.length > 0) await testProofs(circuits);
  await testVerifiers();
}

const options = process.argv.slice(2);
await runCommand(async () => {
  const unknown = options.find((option) => option !== "--watch");
  if (unknown !== undefined)
    throw new CommandError("UNKNOWN_OPTION", `cannot read "${unknown}"; the one option is --watch`);
  if (!options.includes("--watch")) return turn();
  const end = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => end.abort());
  await watchCircuits(async () => {
    // A mistake is shown and waited out: the next save is the next turn.
    await turn().catch((error: unknown) => console.error(errorLine(error)));
    if (!end.signal.aborted) console.error("circuits: waiting for a change ...");
  }, end.signal);
});
