import { type Circuit, SMALL } from "./random-circuit.ts";

type Terms = readonly (readonly [wire: number, coefficient: number])[];

const evaluate = (side: Terms, values: Uint8Array): number =>
  side.reduce((sum, [wire, coefficient]) => sum + coefficient * (values[wire] as number), 0);

/** All assignments over the small field that satisfy the constraints, by brute force: wire after wire. */
export function solutions({ wires, constraints }: Pick<Circuit, "wires" | "constraints">): Uint8Array[] {
  /** The constraints that can be checked once a wire has a value, because it is their last one. */
  const ending: [Terms, Terms, Terms][][] = Array.from({ length: wires }, () => []);
  for (const constraint of constraints) {
    const sides = constraint.map((side) =>
      Object.entries(side).map(([wire, value]) => [Number(wire), Number(value)] as const),
    ) as unknown as [Terms, Terms, Terms];
    const last = Math.max(0, ...sides.flat().map(([wire]) => wire));
    (ending[last] as [Terms, Terms, Terms][]).push(sides);
  }
  const found: Uint8Array[] = [];
  const values = new Uint8Array(wires);
  const assign = (wire: number): void => {
    const holds = (ending[wire - 1] as [Terms, Terms, Terms][]).every(
      ([a, b, c]) => (evaluate(a, values) * evaluate(b, values) - evaluate(c, values)) % SMALL === 0,
    );
    if (!holds) return;
    if (wire === wires) {
      found.push(values.slice());
      return;
    }
    for (let value = 0; value < SMALL; value++) {
      values[wire] = value;
      assign(wire + 1);
    }
  };
  values[0] = 1;
  assign(1);
  return found;
}
