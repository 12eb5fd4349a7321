// node scripts/loop/main.ts [--watch]: the loop for developing circuits. It compiles changed circuits,
// shows their cost, makes development keys, exports verifiers and types, and runs the tests of the changed files.

import { CommandError, errorLine, runCommand } from "@sotto/command/command";
import { certifyChanged } from "@sotto/keys/certify/changed";
import { assertFreeSignals } from "@sotto/keys/certify/free";
import { assertTable, compileOnly } from "@sotto/keys/circuits/compile";
import { type CircuitName, circuitNames } from "@sotto/keys/circuits/paths";
import { generateCircuits } from "@sotto/keys/generate/circuits";
import { generate } from "@sotto/keys/generate/generated-file";
import { uncommitted } from "@sotto/keys/generate/uncommitted";
import { makeDevelopmentSet } from "@sotto/keys/setup/development-set";
import { changedSince, hashSources, markTested } from "./changes.ts";
import { committedCounts, countTable, writeCounts } from "./counts.ts";
import { circuitsOf, groupTests, testsOf } from "./select.ts";
import {
  buildContracts,
  buildPackages,
  generateSources,
  recordHistory,
  testCircuits,
  testProofs,
  testVerifiers,
} from "./steps.ts";
import { watchCircuits } from "./watch.ts";

async function turn(): Promise<void> {
  const start = performance.now();
  const sources = hashSources();
  const changed = changedSince(sources);
  const stop = new AbortController();
  const compiled = compile();
  // A build error stops the tests.
  const keys = compiled.then(makeKeys);
  const built = keys
    .then(generateSources)
    .then(buildPackages)
    .catch((error: unknown) => {
      stop.abort();
      throw error;
    });
  if (changed.length === 0) console.error("circuits: unchanged since their tests passed");
  else if (changed.length === Object.keys(sources).length) console.error("circuits: testing all circuits ...");
  else console.error(`circuits: testing what depends on ${changed.join(", ")} ...`);
  // The tests of the verifiers compile the contracts. Without tests, as after a change is reverted, this step does.
  const restored = async () => (await keys).size > 0 && buildContracts();
  const tested = changed.length === 0 ? [built.then(restored)] : test(changed, { compiled, built }, stop.signal);
  await all([built, built.then(recordHistory), ...tested]);
  markTested(sources);
  console.error(`circuits: done in ${((performance.now() - start) / 1000).toFixed(1)} s`);
  const rest = uncommitted();
  if (rest.length > 0)
    console.error(`circuits: after npm test has passed, commit these files together: ${rest.join(", ")}`);
}

/** The parts of a build, in their order. */
interface Build {
  /** The circuits, and their counts. */
  readonly compiled: Promise<void>;
  /** Keys, verifiers, generated sources and the packages that contain them. */
  readonly built: Promise<void>;
}

/** Starts each test as soon as what it needs is built. The attack tests compile their own circuits, so they start at once. */
function test(changed: readonly string[], build: Build, stop: AbortSignal): Promise<void>[] {
  const { attacks, circuits, packages } = groupTests(testsOf(changed));
  return [
    testCircuits("attacks", attacks, changed, stop),
    build.compiled.then(() => testCircuits("gadgets and mains", circuits, changed, stop)),
    build.built.then(testVerifiers),
    build.built.then(() => testCircuits("protocol package", packages, changed)),
    build.built.then(() => testProofs(circuitsOf(changed))),
  ];
}

/** Compiles the circuits, updates their counts and checks the free signals. */
async function compile(): Promise<void> {
  const compiled = await compileOnly(circuitNames);
  console.error(`\n${countTable(compiled, committedCounts())}\n`);
  writeCounts(compiled);
  assertTable(compiled);
  assertFreeSignals(circuitNames);
}

/** Certifies the circuits, makes keys and exports verifiers. @returns the circuits whose keys were made */
async function makeKeys(): Promise<Set<CircuitName>> {
  // Before the keys, because a circuit that leaves a signal free needs no keys.
  await certifyChanged(circuitNames);
  // The setup below reads this file.
  await generate([generateCircuits], false);
  // The next build compresses them.
  return makeDevelopmentSet(circuitNames, false);
}

/** Waits for all runs, because the next turn writes the files they read; then throws the first error. */
async function all(runs: readonly Promise<unknown>[]): Promise<void> {
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
