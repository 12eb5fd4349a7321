import { createHash } from "node:crypto";
import { inverse, mod, P } from "./field.ts";
import type { System } from "./r1cs.ts";

// Every solution of the shipped system extends to a solution of the plain one. Both systems are evaluated at two random
// points: values of the shipped wires that satisfy its linear constraints. docs/certificate.md has the argument.

const POINTS = 2;
/** Bytes of the hash for one field element; its distance from uniform is below 2^-256. */
const ELEMENT_BYTES = 64;

export interface Bridge {
  /** Constraints of the plain system that do not follow from the shipped one. */
  readonly failures: number[];
  /** For each wire of the shipped system, the wire of the plain one with its label. */
  readonly map: Uint32Array;
  /** Wires of the plain system that got a value although no linear constraint gives them one. */
  readonly chosen: number[];
  /** Log2 of the probability that the points hide a difference, per pair of files. */
  readonly errorBits: number;
}

/** A reason why the two systems cannot be compared. */
export class BridgeError extends Error {}

/** Wires of the plain system by the labels of the shipped wires. @throws BridgeError */
function mapWires(shipped: System, plain: System): Uint32Array {
  const byLabel = new Map<number, number>();
  for (const [wire, label] of plain.labels.entries()) byLabel.set(label, wire);
  const map = new Uint32Array(shipped.wires);
  const taken = new Set<number>();
  for (const [wire, label] of shipped.labels.entries()) {
    const target = byLabel.get(label);
    if (target === undefined)
      throw new BridgeError(`wire ${wire} of the shipped circuit has no signal in the plain one`);
    if (taken.has(target)) throw new BridgeError(`two wires of the shipped circuit are the signal ${label}`);
    if ((wire === 0) !== (target === 0)) throw new BridgeError("the constant 1 is another wire");
    taken.add(target);
    map[wire] = target;
  }
  return map;
}

/** Uniform field elements from a hash of both files. */
function randomElements(seed: string, count: number): bigint[] {
  const bytes = createHash("shake256", { outputLength: ELEMENT_BYTES * count })
    .update(seed)
    .digest();
  return Array.from(
    { length: count },
    (_, i) => BigInt(`0x${bytes.toString("hex", ELEMENT_BYTES * i, ELEMENT_BYTES * (i + 1))}`) % P,
  );
}

type Values = readonly [Array<bigint | undefined>, Array<bigint | undefined>];

/** The sum of a side's known terms at one point, and its unknown terms. */
class Evaluation {
  readonly system: System;
  readonly values: Values;
  constructor(system: System) {
    this.system = system;
    const empty = () => new Array<bigint | undefined>(system.wires).fill(undefined);
    this.values = [empty(), empty()];
    for (const values of this.values) values[0] = 1n;
  }

  /** Value of a side without its unknown wires. */
  side(constraint: number, side: number, point: number): bigint {
    const { start, terms, coefficients, values } = this.system;
    const at = this.values[point] as Array<bigint | undefined>;
    const last = start[3 * constraint + side + 1] as number;
    let sum = 0n;
    for (let term = start[3 * constraint + side] as number; term < last; term++) {
      const value = at[terms[term] as number];
      if (value !== undefined) sum += (values[coefficients[term] as number] as bigint) * value;
    }
    return sum % P;
  }

  unknown(constraint: number, side: number): [wire: number, coefficient: bigint][] {
    const { start, terms, coefficients, values } = this.system;
    const last = start[3 * constraint + side + 1] as number;
    const found: [number, bigint][] = [];
    for (let term = start[3 * constraint + side] as number; term < last; term++) {
      const wire = terms[term] as number;
      if (this.values[0][wire] === undefined) found.push([wire, values[coefficients[term] as number] as bigint]);
    }
    return found;
  }

  residual(constraint: number, point: number): bigint {
    const [a, b, c] = [0, 1, 2].map((side) => this.side(constraint, side, point)) as [bigint, bigint, bigint];
    return mod(a * b - c);
  }

  /**
   * A constraint as a linear equation in its unknown wires: their coefficients, and the sum at each point. Undefined if
   * it is not one.
   */
  equation(constraint: number): { terms: Map<number, bigint>; sums: [bigint, bigint] } | undefined {
    const open = [0, 1, 2].map((side) => this.unknown(constraint, side)) as [
      [number, bigint][],
      [number, bigint][],
      [number, bigint][],
    ];
    const [first, second] = [0, 1].map((point) => [0, 1, 2].map((side) => this.side(constraint, side, point))) as [
      bigint[],
      bigint[],
    ];
    // The factor that multiplies unknown wires must be a constant: known, and equal at both points.
    const factor = [1, 0].find(
      (other) => (open[other] as [number, bigint][]).length === 0 && first[other] === second[other],
    );
    if (factor === undefined) return undefined;
    const scale = first[factor] as bigint;
    const terms = new Map<number, bigint>();
    for (const [wire, value] of open[1 - factor] as [number, bigint][]) terms.set(wire, (scale * value) % P);
    for (const [wire, value] of open[2]) terms.set(wire, mod((terms.get(wire) ?? 0n) - value));
    for (const [wire, value] of terms) if (value === 0n) terms.delete(wire);
    return {
      terms,
      sums: [
        mod((first[0] as bigint) * (first[1] as bigint) - (first[2] as bigint)),
        mod((second[0] as bigint) * (second[1] as bigint) - (second[2] as bigint)),
      ],
    };
  }

  set(wire: number, values: readonly [bigint, bigint]): void {
    for (const point of [0, 1] as const) this.values[point][wire] = values[point];
  }
}

/** Gives every wire of the shipped system a value at both points that satisfies its linear constraints. */
function evaluateShipped(shipped: System, seed: string): Evaluation {
  const evaluation = new Evaluation(shipped);
  const order = solveConstants(evaluation);
  const pivots = new Set(order.map(({ wire }) => wire));
  const random = randomElements(seed, POINTS * shipped.wires);
  for (let wire = 1; wire < shipped.wires; wire++)
    if (!pivots.has(wire) && evaluation.values[0][wire] === undefined)
      evaluation.set(wire, [random[2 * wire] as bigint, random[2 * wire + 1] as bigint]);
  substituteBack(evaluation, order, []);
  return evaluation;
}

/**
 * Sets the wires that linear constraints make constants. Other constraints can become linear with them, so it repeats.
 * @returns the equations of the other wires
 */
function solveConstants(evaluation: Evaluation): (Equation & { wire: number })[] {
  const singles = new Singles(evaluation);
  for (;;) {
    singles.solve();
    const order = eliminate(singles.equations());
    reduce(order);
    const constants = order.filter(({ terms }) => terms.size === 1);
    if (constants.length === 0) return order;
    for (const equation of constants) {
      setOnly(evaluation, equation);
      singles.known(equation.wire);
    }
  }
}

/** Gives a wire its value if it is the only open wire of a constraint, and so on. */
class Singles {
  readonly #evaluation: Evaluation;
  /** The number of open wires of each constraint. */
  readonly #open: Uint32Array;
  readonly #uses: number[][] = [];
  readonly #queue: number[] = [];

  constructor(evaluation: Evaluation) {
    this.#evaluation = evaluation;
    const { constraints, start, terms } = evaluation.system;
    this.#open = new Uint32Array(constraints);
    for (let i = 0; i < constraints; i++)
      for (let term = start[3 * i] as number; term < (start[3 * i + 3] as number); term++) {
        const wire = terms[term] as number;
        if (evaluation.values[0][wire] !== undefined) continue;
        const list = this.#uses[wire];
        if (list === undefined) this.#uses[wire] = [i];
        else if (list.at(-1) !== i) list.push(i);
        else continue;
        (this.#open[i] as number)++;
      }
    for (let i = constraints - 1; i >= 0; i--) if (this.#open[i] === 1) this.#queue.push(i);
  }

  /** Notes that a wire has its value. */
  known(wire: number): void {
    for (const use of this.#uses[wire] ?? []) if (--(this.#open[use] as number) === 1) this.#queue.push(use);
  }

  solve(): void {
    for (let i = this.#queue.pop(); i !== undefined; i = this.#queue.pop()) {
      const equation = this.#open[i] === 1 ? this.#evaluation.equation(i) : undefined;
      const [wire] = equation?.terms.keys() ?? [];
      if (equation === undefined || wire === undefined) continue;
      setOnly(this.#evaluation, equation);
      this.known(wire);
    }
  }

  /** The linear equations in open wires. */
  equations(): Equation[] {
    return [...this.#open.keys()].flatMap((i) => {
      const equation = this.#open[i] === 0 ? undefined : this.#evaluation.equation(i);
      return equation === undefined || equation.terms.size === 0 ? [] : [equation];
    });
  }
}

/** Gives the only wire of an equation its value. */
function setOnly(evaluation: Evaluation, { terms, sums }: Equation): void {
  const [[wire, coefficient]] = terms as unknown as [[number, bigint]];
  const factor = P - inverse(coefficient);
  evaluation.set(wire, [(sums[0] * factor) % P, (sums[1] * factor) % P]);
}

interface Equation {
  terms: Map<number, bigint>;
  sums: [bigint, bigint];
}

/**
 * Gaussian elimination. Each equation of the result has a wire that no later one contains; its coefficient is not 0.
 * Equations without unknown wires left are dropped: the caller checks every constraint in the end.
 */
function eliminate(equations: readonly Equation[]): (Equation & { wire: number })[] {
  const uses = new Map<number, Set<Equation>>();
  for (const equation of equations)
    for (const wire of equation.terms.keys()) uses.set(wire, (uses.get(wire) ?? new Set()).add(equation));
  const result: (Equation & { wire: number })[] = [];
  /** Equations by their number of terms; an entry may be outdated. */
  const bySize: Equation[][] = [];
  const enter = (equation: Equation) => {
    const list = bySize[equation.terms.size];
    if (list === undefined) bySize[equation.terms.size] = [equation];
    else list.push(equation);
  };
  const done = new Set<Equation>();
  for (const equation of equations) enter(equation);
  for (;;) {
    let equation: Equation | undefined;
    for (let size = 1; size < bySize.length && equation === undefined; size++)
      for (const list = bySize[size]; list !== undefined && list.length > 0 && equation === undefined; ) {
        const candidate = list.pop() as Equation;
        if (!done.has(candidate) && candidate.terms.size === size) equation = candidate;
      }
    if (equation === undefined) return result;
    done.add(equation);
    let wire = -1;
    let fewest = Number.POSITIVE_INFINITY;
    for (const candidate of equation.terms.keys()) {
      const count = uses.get(candidate)?.size ?? 0;
      if (count < fewest) [wire, fewest] = [candidate, count];
    }
    const pivot = inverse(equation.terms.get(wire) as bigint);
    for (const other of [...(uses.get(wire) as Set<Equation>)]) {
      if (other === equation || done.has(other)) continue;
      const scale = P - (((other.terms.get(wire) as bigint) * pivot) % P);
      for (const [column, value] of equation.terms) {
        const sum = ((other.terms.get(column) ?? 0n) + scale * value) % P;
        if (sum === 0n) {
          other.terms.delete(column);
          uses.get(column)?.delete(other);
        } else {
          other.terms.set(column, sum);
          uses.get(column)?.add(other);
        }
      }
      for (const point of [0, 1] as const) other.sums[point] = (other.sums[point] + scale * equation.sums[point]) % P;
      enter(other);
    }
    result.push({ ...equation, wire });
  }
}

/** Changes the equations so that none contains the pivot of another one. */
function reduce(order: readonly (Equation & { wire: number })[]): void {
  const pivots = new Map<number, Equation>();
  for (const { wire, terms, sums } of order.toReversed()) {
    for (const [other, value] of [...terms]) {
      const pivot = other === wire ? undefined : pivots.get(other);
      if (pivot === undefined) continue;
      const scale = P - ((value * inverse(pivot.terms.get(other) as bigint)) % P);
      for (const [column, part] of pivot.terms) {
        const sum = ((terms.get(column) ?? 0n) + scale * part) % P;
        if (sum === 0n) terms.delete(column);
        else terms.set(column, sum);
      }
      for (const point of [0, 1] as const) sums[point] = (sums[point] + scale * pivot.sums[point]) % P;
    }
    pivots.set(wire, { terms, sums });
  }
}

/** Values of the pivots, last one first. Wires without a pivot that have no value yet become 0: any value will do. */
function substituteBack(
  evaluation: Evaluation,
  order: readonly (Equation & { wire: number })[],
  chosen: number[],
): void {
  for (const { wire, terms, sums } of order.toReversed()) {
    const values: [bigint, bigint] = [sums[0], sums[1]];
    for (const [other, coefficient] of terms) {
      if (other === wire) continue;
      if (evaluation.values[0][other] === undefined) {
        evaluation.set(other, [0n, 0n]);
        chosen.push(other);
      }
      for (const point of [0, 1] as const) values[point] += coefficient * (evaluation.values[point][other] as bigint);
    }
    const factor = P - inverse(terms.get(wire) as bigint);
    evaluation.set(wire, [((values[0] % P) * factor) % P, ((values[1] % P) * factor) % P]);
  }
}

/** Extends the shipped values to the wires of the plain system, through its linear constraints. */
function extend(plain: System, evaluation: Evaluation): number[] {
  const chosen: number[] = [];
  const singles = new Singles(evaluation);
  for (;;) {
    singles.solve();
    // The remaining signals follow only from several equations together.
    const equations = singles.equations();
    if (equations.length === 0) break;
    const before = new Set(equations.flatMap(({ terms }) => [...terms.keys()]));
    const order = eliminate(equations);
    // Nothing is chosen as long as an equation gives a value: with it, another constraint may give the others.
    reduce(order);
    const given = order.filter(({ terms }) => terms.size === 1);
    substituteBack(evaluation, given.length > 0 ? given : order.slice(-1), chosen);
    for (const wire of before) if (evaluation.values[0][wire] !== undefined) singles.known(wire);
  }
  for (let wire = 1; wire < plain.wires; wire++)
    if (evaluation.values[0][wire] === undefined) {
      evaluation.set(wire, [0n, 0n]);
      chosen.push(wire);
    }
  return chosen;
}

/** The quotients of pairs, with one inversion; undefined where the divisor is 0. */
function quotients(pairs: readonly (readonly [bigint, bigint])[]): (bigint | undefined)[] {
  const products: bigint[] = [];
  let product = 1n;
  for (const [, below] of pairs) {
    products.push(product);
    if (below !== 0n) product = (product * below) % P;
  }
  let inverted = inverse(product);
  const result: (bigint | undefined)[] = new Array(pairs.length);
  for (let i = pairs.length - 1; i >= 0; i--) {
    const [above, below] = pairs[i] as readonly [bigint, bigint];
    if (below === 0n) continue;
    result[i] = (above * ((inverted * (products[i] as bigint)) % P)) % P;
    inverted = (inverted * below) % P;
  }
  return result;
}

const residuals = (evaluation: Evaluation): [bigint, bigint][] =>
  Array.from({ length: evaluation.system.constraints }, (_, i) => [
    evaluation.residual(i, 0),
    evaluation.residual(i, 1),
  ]);

/**
 * Shows that every solution of the shipped system extends to one of the plain system with the same values of the wires
 * in `map`. Neither system is trusted: `failures` is empty only if this is so, up to the probability of error.
 * @param seed a hash of both files @throws BridgeError if the wires do not correspond
 */
export function bridge(shipped: System, plain: System, seed: string): Bridge {
  const map = mapWires(shipped, plain);
  const ours = evaluateShipped(shipped, seed);
  const theirs = new Evaluation(plain);
  for (let wire = 1; wire < shipped.wires; wire++)
    theirs.set(map[wire] as number, [ours.values[0][wire] as bigint, ours.values[1][wire] as bigint]);
  const chosen = extend(plain, theirs);
  const shippedQuotients = new Set<bigint>();
  for (const quotient of quotients(residuals(ours))) if (quotient !== undefined) shippedQuotients.add(quotient);
  const all = residuals(theirs);
  const failures: number[] = [];
  for (const [i, quotient] of quotients(all).entries()) {
    const [first, second] = all[i] as [bigint, bigint];
    if (first === 0n && second === 0n) continue;
    if (quotient === undefined || first === 0n || !shippedQuotients.has(quotient)) failures.push(i);
  }
  // Each test compares polynomials of total degree 4 or less in 2 points.
  const tests = (plain.constraints + 1) * (shipped.constraints + 2) * 4;
  return { failures, map, chosen, errorBits: Math.ceil(Math.log2(tests)) - 253 };
}
