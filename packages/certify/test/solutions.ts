import { type Circuit, SMALL } from "./random-circuit.ts";

const evaluate = (side: readonly (readonly [wire: number, coefficient: number])[], values: Uint8Array): number =>
  side.reduce((sum, [wire, coefficient]) => sum + coefficient * (values[wire] as number), 0);

/** All assignments over the small field that satisfy the constraints, by brute force. */
export function solutions({ wires, constraints }: Circuit): Uint8Array[] {
  const sides = constraints.map((constraint) =>
    constraint.map((side) => Object.entries(side).map(([wire, value]) => [Number(wire), Number(value)] as const)),
  );
  const found: Uint8Array[] = [];
  const values = new Uint8Array(wires);
  values[0] = 1;
  for (let number = 0; number < SMALL ** (wires - 1); number++) {
    for (let wire = 1, rest = number; wire < wires; wire++, rest = Math.floor(rest / SMALL))
      values[wire] = rest % SMALL;
    const holds = sides.every(
      ([a, b, c]) => (evaluate(a!, values) * evaluate(b!, values) - evaluate(c!, values)) % SMALL === 0,
    );
    if (holds) found.push(values.slice());
  }
  return found;
}
