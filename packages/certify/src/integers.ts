import { DisjointSets } from "./disjoint-sets.ts";
import { inverse, mod, P, smallest } from "./field.ts";
import type { Form } from "./form.ts";
import type { Normalized } from "./normalize.ts";
import { absolute, add, ONE, product, type Range, times } from "./ranges.ts";
import type { Scaled } from "./steps.ts";

// Sums of constraints that hold as equations of integers.

/** A product of two wires, or of one and the constant 1, as a number: see `monomial`. */
type Monomial = number;

/** A polynomial of degree 2 at most that is 0: the coefficient of each monomial, none of them 0. */
export type Terms = Map<Monomial, bigint>;

interface Row {
  readonly terms: Terms;
  /** The row is the sum of these constraints times their factors. */
  readonly sources: Map<number, bigint>;
}

/** A row of integers, and the rows it is the sum of. */
export interface IntegerRow {
  readonly terms: Terms;
  readonly weights: Map<number, bigint>;
}

/** An equation of integers. */
export interface Equation {
  readonly terms: Terms;
  readonly sources: readonly Scaled[];
}

/** Limits of one block of equations, above which it is not tried. */
const MAX_ROWS = 400;
const MAX_TERMS = 600;
/** Products of coefficients that one elimination computes at most. */
const MAX_WORK = 3_000_000;
/** Coefficients of sums of integer equations: numbers of 8,192 bits in limbs need half as many bits, and each step adds some. */
const MAX_COEFFICIENT = 1n << 16_384n;
/** Factors that are tried to make an equation's coefficients small. */
const MAX_UNITS = 40;

/** What the elimination asks about a wire. */
export interface Wires {
  readonly isKnown: (wire: number) => boolean;
  readonly isBit: (wire: number) => boolean;
  readonly range: (wire: number) => Range | undefined;
}

/** Names monomials of a system by numbers. */
export class Monomials {
  readonly #wires: number;
  constructor(wires: number) {
    this.#wires = wires;
  }
  of(a: number, b: number): Monomial {
    return a < b ? a * this.#wires + b : b * this.#wires + a;
  }
  /** Both wires; 0 is the constant 1. */
  wires(monomial: Monomial): [a: number, b: number] {
    return [Math.floor(monomial / this.#wires), monomial % this.#wires];
  }
}

function addTerms(to: Map<number, bigint>, from: ReadonlyMap<number, bigint>, scale: bigint, reduce = mod): void {
  for (const [key, value] of from) {
    const sum = reduce((to.get(key) ?? 0n) + scale * value);
    if (sum === 0n) to.delete(key);
    else to.set(key, sum);
  }
}

/** A B - C of a constraint; undefined if it has too many terms. */
function expand(system: Normalized, names: Monomials, by: number): Terms | undefined {
  const sides = system.sides(by) as readonly Form[];
  const [a, b] = sides.length === 3 ? (sides as [Form, Form, Form]) : [undefined, undefined];
  const c = sides.at(-1) as Form;
  if ((a?.wires.length ?? 0) * (b?.wires.length ?? 0) + c.wires.length > MAX_TERMS) return undefined;
  const withConstant = ({ constant, wires, coefficients }: Form) => [
    [0, constant] as const,
    ...wires.map((wire, i) => [wire, coefficients[i] as bigint] as const),
  ];
  const terms: Terms = new Map();
  const put = (key: Monomial, value: bigint) => addTerms(terms, new Map([[key, value]]), 1n);
  if (a !== undefined && b !== undefined)
    for (const [left, x] of withConstant(a))
      for (const [right, y] of withConstant(b)) put(names.of(left, right), x * y);
  for (const [wire, value] of withConstant(c)) put(names.of(0, wire), -value);
  return terms;
}

/** Groups of constraints that share open wires, without those that multiply two of these and without a bit of their own. */
function blocksOf(system: Normalized, open: readonly number[], { isKnown, isBit, range }: Wires): number[][] {
  const openIn = (by: number) => {
    const sides = system.sides(by) as readonly Form[];
    return new Set(sides.flatMap(({ wires }) => wires.filter((wire) => !isKnown(wire))));
  };
  const hasOpen = (form: Form | undefined) => form?.wires.some((wire) => !isKnown(wire)) === true;
  const wiresOf = new Map<number, Set<number>>();
  const uses = new Map<number, number>();
  const factors = new Set<number>();
  for (const by of open) {
    const sides = system.sides(by) as readonly Form[];
    if (sides.length === 3 && hasOpen(sides[0]) && hasOpen(sides[1])) continue;
    for (const { wires } of sides.slice(0, -1)) for (const wire of wires) factors.add(wire);
    const wires = openIn(by);
    if (wires.size === 0) continue;
    wiresOf.set(by, wires);
    for (const wire of wires) uses.set(wire, (uses.get(wire) ?? 0) + 1);
  }
  const isOwn = (wire: number) =>
    uses.get(wire) === 1 && !factors.has(wire) && (isBit(wire) || range(wire) === undefined);
  const queue = [...wiresOf.keys()];
  for (let by = queue.pop(); by !== undefined; by = queue.pop()) {
    const wires = wiresOf.get(by);
    if (wires === undefined || ![...wires].some(isOwn)) continue;
    wiresOf.delete(by);
    for (const wire of wires) {
      uses.set(wire, (uses.get(wire) as number) - 1);
      if (isOwn(wire)) queue.push(...system.uses(wire).filter((use) => wiresOf.has(use)));
    }
  }
  const sets = new DisjointSets();
  for (const [first, ...others] of [...wiresOf.values()].map((wires) => [...wires]))
    for (const wire of others) sets.join(wire, first as number);
  const blocks = new Map<number, number[]>();
  for (const [by, [first]] of [...wiresOf].map(([key, wires]) => [key, [...wires]] as const)) {
    const root = sets.find(first as number);
    const block = blocks.get(root);
    if (block === undefined) blocks.set(root, [by]);
    else block.push(by);
  }
  return [...blocks.values()];
}

/**
 * Equations of integers in open wires, in blocks that share none: constraints, solved for the wires without a range, whose
 * terms stay below P.
 */
export function integerEquations(
  system: Normalized,
  names: Monomials,
  open: readonly number[],
  wires: Wires,
): Equation[][] {
  return blocksOf(system, open, wires).flatMap((block) => {
    if (block.length > MAX_ROWS) return [];
    const rows: Row[] = [];
    for (const by of block) {
      const terms = expand(system, names, by);
      if (terms !== undefined) rows.push({ terms, sources: new Map([[by, 1n]]) });
    }
    const left = solveUnranged(rows, names, wires);
    const found = independent(left, names, wires).flatMap((row) => asIntegers(row, names, wires) ?? []);
    return found.length === 0 ? [] : [found];
  });
}

/** Solves for the wires without a range, first those of the rows with the most of them. @returns the rows that have none left */
function solveUnranged(rows: readonly Row[], names: Monomials, { range }: Wires): Row[] {
  const unranged = ({ terms }: Row) =>
    [...terms.keys()].filter((key) => !names.wires(key).every((wire) => wire === 0 || range(wire)));
  const isLinear = (key: Monomial) => names.wires(key)[0] === 0;
  const left = new Set(rows);
  let work = 0;
  const order = [...rows].sort((a, b) => unranged(b).length - unranged(a).length);
  for (const pivot of order) {
    const key = unranged(pivot).find(isLinear);
    if (key === undefined) continue;
    left.delete(pivot);
    const factor = inverse(pivot.terms.get(key) as bigint);
    for (const row of rows) {
      const value = row.terms.get(key);
      if (row === pivot || value === undefined) continue;
      const scale = -value * factor;
      addTerms(row.terms, pivot.terms, scale);
      addTerms(row.sources, pivot.sources, scale);
      work += pivot.terms.size + pivot.sources.size;
      if (work > MAX_WORK) return [];
    }
  }
  return [...left].filter((row) => row.terms.size > 0 && unranged(row).length === 0);
}

/** Rows of which no sum consists of determined wires only: such a sum says nothing about the others. */
function independent(rows: readonly Row[], names: Monomials, { isKnown }: Wires): Row[] {
  const isOpen = (wire: number) => wire !== 0 && !isKnown(wire);
  const pivots: [key: Monomial, terms: Terms][] = [];
  let work = 0;
  return [...rows]
    .sort((a, b) => a.terms.size - b.terms.size)
    .filter(({ terms }) => {
      const left: Terms = new Map([...terms].filter(([key]) => names.wires(key).some(isOpen)));
      for (const [key, pivot] of pivots) {
        const value = left.get(key);
        if (value === undefined || work > MAX_WORK) continue;
        addTerms(left, pivot, -value);
        work += pivot.size;
      }
      const [lead] = left;
      if (lead === undefined) return false;
      const factor = inverse(lead[1]);
      pivots.push([lead[0], new Map([...left].map(([key, value]) => [key, mod(value * factor)]))]);
      return true;
    });
}

/** A multiple of a row whose value is below P in absolute value, so that it is 0 as an integer. */
function asIntegers({ terms, sources }: Row, names: Monomials, { range }: Wires): Equation | undefined {
  const ranges = new Map(
    [...terms.keys()].map((key) => {
      const [a, b] = names.wires(key).map((wire) => (wire === 0 ? ONE : (range(wire) as Range))) as [Range, Range];
      return [key, product(a, b)] as const;
    }),
  );
  for (const unit of [1n, ...[...new Set(terms.values())].slice(0, MAX_UNITS)]) {
    const scale = inverse(unit);
    let total: Range = { low: 0n, high: 0n };
    const integers: Terms = new Map();
    for (const [key, value] of terms) {
      const k = smallest(value * scale);
      integers.set(key, k);
      total = add(total, times(k, ranges.get(key) as Range));
      if (-total.low >= P || total.high >= P) break;
    }
    if (integers.size === terms.size && -total.low < P && total.high < P)
      return { terms: integers, sources: [...sources].map(([by, k]) => ({ by, scale: mod(k * scale) })) };
  }
  return undefined;
}

const exact = (value: bigint): bigint => value;

/**
 * Sums of equations, over the integers, in which each wire that `isEliminated` names is in at most one: what only one equation
 * contains stays, because it may be shown to be 0.
 * @returns none if that takes too much work, or coefficients of more than 16,384 bits
 */
export function eliminateIntegers(
  equations: readonly Equation[],
  names: Monomials,
  isEliminated: (wire: number) => boolean,
): IntegerRow[] {
  const rows = equations.map(({ terms }, i) => ({ terms: new Map(terms), weights: new Map([[i, 1n]]) }));
  const left = new Set(rows);
  const usersOf = new Map<number, Set<IntegerRow>>();
  const name = (row: IntegerRow) => {
    for (const key of row.terms.keys())
      for (const wire of names.wires(key))
        if (isEliminated(wire)) usersOf.set(wire, (usersOf.get(wire) ?? new Set()).add(row));
  };
  for (const row of rows) name(row);
  const users = (wire: number) =>
    [...(usersOf.get(wire) ?? [])].filter((row) => left.has(row) && row.terms.has(names.of(0, wire)));
  let work = 0;
  for (;;) {
    const shared = [...usersOf.keys()]
      .map((wire) => [wire, users(wire)] as const)
      .filter(([, { length }]) => length > 1);
    if (shared.length === 0) break;
    const [wire, found] = shared.reduce((best, one) => (one[1].length < best[1].length ? one : best));
    const key = names.of(0, wire);
    const [pivot, ...others] = found.sort((a, b) => {
      const [x, y] = [absolute(a.terms.get(key) as bigint), absolute(b.terms.get(key) as bigint)];
      return x < y ? -1 : x > y ? 1 : a.terms.size - b.terms.size;
    }) as [IntegerRow, ...IntegerRow[]];
    left.delete(pivot);
    const p = pivot.terms.get(key) as bigint;
    for (const row of others) {
      const value = row.terms.get(key) as bigint;
      const common = gcd(p, value);
      const [k, j] = [p / common, -value / common];
      for (const [to, from] of [
        [row.terms, pivot.terms],
        [row.weights, pivot.weights],
      ] as const) {
        if (k !== 1n) for (const [term, one] of to) to.set(term, one * k);
        addTerms(to, from, j, exact);
      }
      if ([...row.terms.values(), ...row.weights.values()].some((value) => absolute(value) > MAX_COEFFICIENT))
        return [];
      name(row);
      work += pivot.terms.size + row.terms.size;
      if (work > MAX_WORK) return [];
    }
  }
  return [...left].filter(({ terms }) => terms.size > 0);
}

export function gcd(a: bigint, b: bigint): bigint {
  let [x, y] = [absolute(a), absolute(b)];
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}
