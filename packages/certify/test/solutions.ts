import { type Circuit, SMALL } from "./random-circuit.ts";

type Terms = readonly (readonly [wire: number, coefficient: number])[];
type Sides = readonly [a: Terms, b: Terms, c: Terms];

/** All assignments over a small field that satisfy the constraints, by brute force: wire after wire. At most `limit`. */
export function solutions(
  { wires, constraints }: Pick<Circuit, "wires" | "constraints">,
  prime: number = SMALL,
  limit = Number.POSITIVE_INFINITY,
): Uint8Array[] {
  /** The constraints that can be checked once a wire has a value, because it is their last one. */
  const ending: Sides[][] = Array.from({ length: wires }, () => []);
  for (const constraint of constraints) {
    const sides = constraint.map((side) =>
      Object.entries(side).map(([wire, value]) => [Number(wire), Number(value)] as const),
    ) as unknown as Sides;
    const last = Math.max(0, ...sides.flat().map(([wire]) => wire));
    (ending[last] as Sides[]).push(sides);
  }
  const found: Uint8Array[] = [];
  const values = new Uint8Array(wires);
  const evaluate = (side: Terms): number => {
    let sum = 0;
    for (let i = 0; i < side.length; i++) {
      const term = side[i] as Terms[number];
      sum += term[1] * (values[term[0]] as number);
    }
    return sum % prime;
  };
  const inverses = Array.from({ length: prime }, (_, value) =>
    Array.from({ length: prime }, (__, other) => other).find((other) => (value * other) % prime === 1),
  );
  const all = Array.from({ length: prime }, (_, value) => value);
  const residual = ([a, b, c]: Sides, wire: number, value: number) => {
    values[wire] = value;
    return (evaluate(a) * evaluate(b) + prime - evaluate(c)) % prime;
  };
  /** The only value that a constraint leaves for its last wire, if it is linear in it; otherwise every value. */
  const candidates = (wire: number): number[] => {
    for (const constraint of ending[wire] as Sides[]) {
      const [zero, one, two] = [0, 1, 2].map((value) => residual(constraint, wire, value)) as [number, number, number];
      const slope = inverses[(one - zero + prime) % prime];
      if ((two - 2 * one + zero) % prime === 0 && slope !== undefined)
        return [(((prime - zero) % prime) * slope) % prime];
    }
    return all;
  };
  const holds = ([a, b, c]: Sides) => (evaluate(a) * evaluate(b) - evaluate(c)) % prime === 0;
  const assign = (wire: number): void => {
    if (found.length === limit || !(ending[wire - 1] as Sides[]).every(holds)) return;
    if (wire === wires) {
      found.push(values.slice());
      return;
    }
    for (const value of candidates(wire)) {
      values[wire] = value;
      assign(wire + 1);
    }
  };
  values[0] = 1;
  assign(1);
  return found;
}
