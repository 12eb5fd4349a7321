// node packages/keys/src/circuits/compile.ts [NAME ...]: circuits/NAME.circom -> circuits/build/NAME/NAME.{r1cs,wasm,sym},
// and compares the counts of circuits.json with the result. Unchanged circuits are not compiled again.
import { join } from "node:path";
import { CommandError, runCommand } from "@sotto/command/command";
import { MAX_COMPILERS } from "./circom.ts";
import { type CircuitEntry, publicSignalCount, readCircuitTable } from "./circuits-json.ts";
import { type Compilation, compileCircuit } from "./compiler.ts";
import { artifactPaths, type CircuitName, circuitsFolder, parseCircuitNames } from "./paths.ts";
import type { R1csHeader } from "./r1cs-header.ts";

/** Compares a circuit's entry in circuits.json with its r1cs. @throws CommandError CIRCUITS_JSON_STALE */
export function assertCounts(name: string, entry: CircuitEntry | undefined, compiled: R1csHeader): void {
  const compare = (what: string, expected: number, actual: number) =>
    expected === actual ? [] : [`${name}: circuits.json has ${expected} ${what}, the compiled circuit ${actual}`];
  const wrong =
    entry === undefined
      ? [`${name}: not in circuits.json`]
      : [
          ...compare("constraints", entry.constraints, compiled.constraints),
          ...compare("wires", entry.wires, compiled.wires),
          ...compare("public signals", publicSignalCount(entry), compiled.publicInputs + compiled.publicOutputs),
          ...compare("public outputs", 0, compiled.publicOutputs),
        ];
  if (wrong.length === 0) return;
  const advice = "if you changed the circuit on purpose, run npm run circuits:build to write the new counts";
  throw new CommandError("CIRCUITS_JSON_STALE", [...wrong, advice].join("\n"), { inLines: true });
}

async function compileOne(name: CircuitName, stop: AbortSignal): Promise<Compilation> {
  const source = join(circuitsFolder, `${name}.circom`);
  const onStart = () => console.error(`circuits: ${name}: compiling ...`);
  const compiled = await compileCircuit(source, artifactPaths(name).folder, { onStart, stop });
  const how = compiled.cached ? "unchanged" : `${compiled.seconds.toFixed(1)} s`;
  console.error(`circuits: ${name}: ${compiled.constraints} constraints, ${compiled.wires} wires (${how})`);
  return compiled;
}

/**
 * Compiles the named circuits without comparing them with circuits.json. The first error stops all compilers before it is
 * thrown.
 */
export async function compileOnly(names: readonly CircuitName[]): Promise<Map<CircuitName, Compilation>> {
  const results = new Map<CircuitName, Compilation>();
  const queue = [...names];
  const stop = new AbortController();
  const worker = async (): Promise<void> => {
    try {
      for (let name = queue.shift(); name !== undefined && !stop.signal.aborted; name = queue.shift())
        results.set(name, await compileOne(name, stop.signal));
    } catch (error) {
      // The other compilers fail because they were stopped.
      stop.abort(error);
    }
  };
  await Promise.all(Array.from({ length: MAX_COMPILERS }, worker));
  stop.signal.throwIfAborted();
  return new Map(names.map((name) => [name, results.get(name)!]));
}

/** Compares circuits.json with the compiled circuits. @throws CommandError CIRCUITS_JSON_STALE */
export function assertTable(results: ReadonlyMap<CircuitName, Compilation>): void {
  const table = readCircuitTable();
  for (const [name, compiled] of results) assertCounts(name, table[name], compiled);
}

if (import.meta.main)
  await runCommand(async () => assertTable(await compileOnly(parseCircuitNames(process.argv.slice(2)))));
