/** Two witnesses of one circuit, as one system: a value for each wire, and a difference for each wire that may differ. */
import type { System } from "../r1cs.ts";
import type { Field } from "./field.ts";
import { add, type Form, type Product, quotient, Solver } from "./solver.ts";

export interface Pair {
  readonly solver: Solver;
  /** The variable of a wire's difference; undefined if the two witnesses agree on it. */
  readonly difference: ReadonlyMap<number, number>;
}

function formOf(field: Field, system: System, side: number): Form {
  let constant = 0n;
  const terms: [number, bigint][] = [];
  for (let at = system.start[side] as number; at < (system.start[side + 1] as number); at++) {
    const [wire, value] = [system.terms[at] as number, system.values[system.coefficients[at] as number] as bigint];
    if (wire === 0) constant += value;
    else if (value !== 0n) terms.push([wire, value]);
  }
  return { constant: field.mod(constant), terms };
}

/**
 * The wires that may differ if the wires `given` do not. It leaves out a wire that a constraint computes from wires that
 * agree. Whatever else is determined has a difference that the search finds to be 0.
 */
function openWires(system: System, constraints: readonly Product[], given: ReadonlySet<number>): Set<number> {
  const open = new Set<number>();
  for (let wire = 1; wire < system.wires; wire++) if (!given.has(wire)) open.add(wire);
  const uses: number[][] = Array.from({ length: system.wires }, () => []);
  const wires = constraints.map((sides, index) => {
    const found = new Set(sides.flatMap(({ terms }) => terms.map(([wire]) => wire)));
    for (const wire of found) uses[wire]?.push(index);
    return found;
  });
  const count = wires.map((found) => [...found].filter((wire) => open.has(wire)).length);
  const queue = [...count.keys()].filter((index) => count[index] === 1);
  const contains = ({ terms }: Form, wire: number) => terms.some(([one]) => one === wire);
  for (let index = queue.pop(); index !== undefined; index = queue.pop()) {
    if (count[index] !== 1) continue;
    const wire = [...(wires[index] as Set<number>)].find((one) => open.has(one)) as number;
    const [a, b] = constraints[index] as Product;
    const inA = contains(a, wire) && (b.terms.length > 0 || b.constant === 0n);
    const inB = contains(b, wire) && (a.terms.length > 0 || a.constant === 0n);
    const c = (constraints[index] as Product)[2].terms.find(([one]) => one === wire)?.[1] ?? 0n;
    if (inA || inB || (!contains(a, wire) && !contains(b, wire) && c === 0n)) continue;
    if ((contains(a, wire) || contains(b, wire)) && c !== 0n) continue;
    open.delete(wire);
    for (const use of uses[wire] as number[]) if (--(count[use] as number) === 1) queue.push(use);
  }
  return open;
}

/** The system of two witnesses that agree on the wires `given`. A wire's variable has the wire's number. */
export function createPair(system: System, field: Field, given: ReadonlySet<number>): Pair {
  const constraints = Array.from({ length: system.constraints }, (_, i): Product => {
    const side = (index: number) => formOf(field, system, 3 * i + index);
    return [side(0), side(1), side(2)];
  });
  const difference = new Map<number, number>();
  for (const wire of openWires(system, constraints, given)) difference.set(wire, system.wires + difference.size);
  const solver = new Solver(field, system.wires + difference.size);
  solver.assign(0, 1n);
  const change = ({ terms }: Form): Form => ({
    constant: 0n,
    terms: terms.flatMap(([wire, value]) => {
      const variable = difference.get(wire);
      return variable === undefined ? [] : [[variable, value] as const];
    }),
  });
  for (const product of constraints) {
    solver.add(product);
    const [a, b, c] = product;
    const [x, y, z] = product.map(change) as [Form, Form, Form];
    if (x.terms.length + y.terms.length + z.terms.length === 0) continue;
    // (a + x)(b + y) = c + z, from which a b = c is taken away if a product remains.
    const k = quotient(field, y, x);
    if (x.terms.length === 0) solver.add([a, y, z]);
    else if (y.terms.length === 0) solver.add([x, b, z]);
    else if (k !== undefined) solver.add([x, add(field, [k, a], [1n, b], [k, x]), z]);
    else solver.add([add(field, [1n, a], [1n, x]), add(field, [1n, b], [1n, y]), add(field, [1n, c], [1n, z])]);
  }
  return { solver, difference };
}
