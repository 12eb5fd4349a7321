import { readNames } from "../src/explain.ts";
import { divide, mod, P, squareRoot } from "../src/replay/field.ts";
import { parseR1cs, type R1cs, sidesOf, type Term } from "../src/replay/r1cs.ts";

type Sides = readonly [Term[], Term[], Term[]];

/**
 * A wire that a constraint gives, once all its other wires have values, with its value. The value is undefined if the constraint
 * holds for each.
 */
function step(
  [a, b, c]: Sides,
  values: readonly (bigint | undefined)[],
): readonly [wire: number, value: bigint | undefined] | undefined {
  const parts = [a, b, c].map((terms) => {
    const open = terms.filter(([wire]) => values[wire] === undefined);
    const sum = terms.reduce((total, [wire, k]) => total + k * (values[wire] ?? 0n), 0n);
    return { open, sum: mod(sum) };
  });
  const [x, y, z] = parts as [(typeof parts)[0], (typeof parts)[0], (typeof parts)[0]];
  const factors = new Map<number, bigint>();
  const add = (terms: readonly Term[], scale: bigint) => {
    for (const [wire, k] of terms) factors.set(wire, mod((factors.get(wire) ?? 0n) + k * scale));
  };
  if (x.open.length > 0 && y.open.length > 0) return undefined;
  add(x.open, y.sum);
  add(y.open, x.sum);
  add(z.open, -1n);
  const found = [...factors].filter(([, factor]) => factor !== 0n);
  const rest = mod(x.sum * y.sum - z.sum);
  const [first] = found;
  if (first !== undefined) return found.length === 1 ? [first[0], divide(-rest, first[1])] : undefined;
  if (rest !== 0n) throw new Error("no value satisfies a constraint");
  const [wire] = factors.keys();
  return wire !== undefined && factors.size === 1 ? [wire, undefined] : undefined;
}

/** The witness in which the given wires have these values; a slope that its constraint leaves free is `chosen`. */
function witness(
  r1cs: R1cs,
  given: ReadonlyMap<number, bigint>,
  isSlope: (wire: number) => boolean,
  chosen: bigint,
): bigint[] {
  const values: (bigint | undefined)[] = [1n, ...new Array(r1cs.wires - 1).fill(undefined)];
  for (const [wire, value] of given) values[wire] = mod(value);
  const constraints = Array.from({ length: r1cs.constraints }, (_, i) => sidesOf(r1cs, i));
  const uses = Array.from({ length: r1cs.wires }, (): Sides[] => []);
  for (const sides of constraints) for (const [wire] of sides.flat()) uses[wire]?.push(sides);
  const free: number[] = [];
  const queue: Sides[] = constraints.toReversed();
  const set = (wire: number, value: bigint) => {
    values[wire] = value;
    queue.push(...(uses[wire] as Sides[]));
  };
  while (queue.length > 0) {
    const [wire, value] = step(queue.pop() as Sides, values) ?? [];
    if (wire !== undefined && value === undefined && isSlope(wire)) free.push(wire);
    if (wire !== undefined && value !== undefined) set(wire, value);
    // Only if nothing else follows, a slope is free.
    const next = queue.length === 0 ? free.find((slope) => values[slope] === undefined) : undefined;
    if (next !== undefined) set(next, chosen);
  }
  if (values.includes(undefined)) throw new Error("no constraint gives a wire");
  return values.map((value) => value ?? 0n);
}

/** Two witnesses of an .r1cs file without simplification, for inputs that leave slopes free. */
export function twoWitnesses(r1cs: Buffer, sym: string, inputs: readonly bigint[]): [bigint[], bigint[]] {
  const system = parseR1cs(r1cs, "the circuit");
  const given = new Map(inputs.map((value, i) => [1 + system.publicOutputs + i, value]));
  // Without simplification, the label of a signal is the number of its wire.
  const names = readNames(sym);
  const isSlope = (wire: number) => names.get(wire)?.endsWith(".lamda") === true;
  return [witness(system, given, isSlope, 5n), witness(system, given, isSlope, 6n)];
}

/**
 * (u, v) of order 7 on v^2 = u^3 + 168698 u^2 + u + c, for some c. The formulas of Montgomery curves contain no c, so they add
 * points of this curve too. From Tate's curve y^2 + (1 + d - d^2) x y + (d^2 - d^3) y = x^3 + (d^2 - d^3) x^2, on which (0, 0) has
 * order 7: y is replaced by a square's completion, and x by r^2 u + s.
 */
export function orderSeven(A: bigint): [u: bigint, v: bigint] {
  for (let d = 2n; ; d++) {
    const [a1, a3] = [1n + d - d * d, d * d - d * d * d];
    // y^2 = x^3 + e2 x^2 + e4 x + ... for the new y = y + (a1 x + a3) / 2
    const [e2, e4] = [a3 + divide(a1 * a1, 4n), divide(a1 * a3, 2n)];
    // A r^2 = e2 + 3 s, and r^4 = 3 s^2 + 2 e2 s + e4
    const [qa, qb, qc] = [3n * A * A - 9n, 2n * A * A * e2 - 6n * e2, A * A * e4 - e2 * e2];
    const root = squareRoot(qb * qb - 4n * qa * qc);
    if (root === undefined) continue;
    const s = divide(root - qb, 2n * qa);
    const square = divide(e2 + 3n * s, A);
    const r = squareRoot(square);
    if (r === undefined || r === 0n) continue;
    return [divide(-s, square), divide(a3, 2n * square * r)];
  }
}

/**
 * Digits s0 and s1 for which circomlib's Mux3 with s2 = `last` chooses the value `target` from both lists of eight: two equations a + b s0
 * + c s1 + e s0 s1 = 0. Undefined if no numbers of the field solve them.
 */
export function digitsFor(
  lists: readonly (readonly bigint[])[],
  target: readonly bigint[],
  last: bigint,
): [bigint, bigint] | undefined {
  const equations = lists.map((list, i) => {
    const [a, b, c, e] = [0, 1, 2, 3].map((j) => {
      const [low, high] = [list[j] as bigint, list[j + 4] as bigint];
      return low + (high - low) * last;
    }) as [bigint, bigint, bigint, bigint];
    return [a - (target[i] as bigint), b - a, c - a, e - c - b + a].map(mod) as [bigint, bigint, bigint, bigint];
  });
  const [[a, b, c, e], [f, g, h, k]] = equations as [
    [bigint, bigint, bigint, bigint],
    [bigint, bigint, bigint, bigint],
  ];
  // s1 = -(a + b s0) / (c + e s0), in (f + g s0) (c + e s0) = (h + k s0) (a + b s0)
  const [qa, qb, qc] = [g * e - k * b, f * e + g * c - h * b - k * a, f * c - h * a];
  const root = squareRoot(qb * qb - 4n * qa * qc);
  if (root === undefined) return undefined;
  const s0 = divide(root - qb, 2n * qa);
  return [s0, divide(-(a + b * s0), c + e * s0)];
}

/** A number that is a square root of a square. */
export function rootOf(value: bigint): bigint {
  const root = squareRoot(value);
  if (root === undefined) throw new Error(`${value} has no root modulo ${P}`);
  return root;
}
