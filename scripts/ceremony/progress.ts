import { statSync } from "node:fs";
import type { Progress } from "./listener.ts";

/** A circuit whose keys are made. */
export interface CeremonyCircuit {
  readonly name: string;
  /** Compiled. */
  readonly r1cs: string;
}

/** Told of what is going on, a line at a time. */
export type Tell = (line: string) => void;

const seconds = (start: number): number => (performance.now() - start) / 1000;

/** Does a step for each circuit in turn, and tells which it is, how much of all is left, and how long it took. */
export async function forEach(
  circuits: readonly CeremonyCircuit[],
  tell: Tell,
  step: string,
  action: (circuit: CeremonyCircuit, progress: Progress) => Promise<void>,
): Promise<void> {
  // What a circuit takes grows with it.
  const sizes = circuits.map(({ r1cs }) => statSync(r1cs).size);
  const all = sizes.reduce((sum, size) => sum + size, 0);
  const start = performance.now();
  let done = 0;
  for (const [index, circuit] of circuits.entries()) {
    const what = `${circuit.name} (${index + 1} of ${circuits.length}): ${step}`;
    const size = sizes[index]!;
    const began = performance.now();
    tell(what);
    await action(circuit, (part) => {
      const share = (done + part * size) / all;
      if (share === 0) return;
      const minutes = Math.ceil((seconds(start) / 60) * (1 / share - 1));
      tell(`${what}: ${Math.floor(100 * share)} % of all circuits, about ${minutes} min left`);
    });
    tell(`${what}: ${seconds(began).toFixed(1)} s`);
    done += size;
  }
}
