import { statSync } from "node:fs";
import type { Progress } from "./snarkjs-logger.ts";

export interface CeremonyCircuit {
  readonly name: string;
  /** Path of the compiled circuit. */
  readonly r1cs: string;
}

/** Prints one line of progress. */
export type Report = (line: string) => void;

const seconds = (start: number): number => (performance.now() - start) / 1000;

/**
 * Runs a step for each circuit in turn. Reports the circuit, the share of all circuits that is done, and the time taken.
 */
export async function forEach(
  circuits: readonly CeremonyCircuit[],
  report: Report,
  step: string,
  action: (circuit: CeremonyCircuit, progress: Progress) => Promise<void>,
): Promise<void> {
  // The time for a circuit is roughly proportional to its size.
  const sizes = circuits.map(({ r1cs }) => statSync(r1cs).size);
  const all = sizes.reduce((sum, size) => sum + size, 0);
  const start = performance.now();
  let done = 0;
  for (const [index, circuit] of circuits.entries()) {
    const what = `${circuit.name} (${index + 1} of ${circuits.length}): ${step}`;
    const size = sizes[index]!;
    const began = performance.now();
    report(what);
    await action(circuit, (part) => {
      const share = (done + part * size) / all;
      if (share === 0) return;
      const minutes = Math.ceil((seconds(start) / 60) * (1 / share - 1));
      report(`${what}: ${Math.floor(100 * share)} % of all circuits, about ${minutes} min left`);
    });
    report(`${what}: ${seconds(began).toFixed(1)} s`);
    done += size;
  }
}
