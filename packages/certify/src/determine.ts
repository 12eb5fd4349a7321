import { Divisions } from "./division.ts";
import type { Facts } from "./facts.ts";
import { inverse, mod, P } from "./field.ts";
import { combine, type Form, isZero, keyOf, lineOf, ratio } from "./form.ts";
import { eliminated, solve } from "./linear.ts";
import { LongDivisions } from "./long-division.ts";
import type { Normalized } from "./normalize.ts";
import type { Comparison, Determination, Scaled } from "./steps.ts";

/** A constraint whose only undetermined wire has a factor that is not shown to be nonzero. */
export interface Blocked {
  readonly constraint: number;
  readonly wire: number;
  readonly factor: Form;
}

/**
 * Determines wires: if two satisfying assignments agree on the given wires, they agree on every determined one. All
 * wires here are roots of the normalized system.
 */
export class Determined {
  readonly steps: Determination[] = [];
  /** Public inputs that had to be given. The other public inputs are results: they come out determined. */
  readonly givenPublic: number[] = [];
  readonly #system: Normalized;
  readonly #facts: Facts;
  readonly #signs: boolean;
  readonly #known: Uint8Array;
  readonly #open: Uint32Array;
  /** How many undetermined wires of a constraint are not shown to be 0 or 1. */
  readonly #wide: Uint32Array;
  readonly #blocked = new Map<number, Blocked>();
  /** Constraints of degree 2 in their only open wire, with the wire. */
  readonly #quadratic = new Map<number, number>();
  /** Constraints of which two wires were open. Whether they are a division does not depend on any other wire. */
  readonly #pairs: number[] = [];
  #divisions: Divisions | undefined;
  #longDivisions: LongDivisions | undefined;
  /** Constraints to visit: first those that compute their wire, then the others. */
  readonly #queue: number[] = [];
  readonly #later: number[] = [];

  /**
   * @param given wires (not only roots) on which the two assignments agree
   * @param results wires that may be given too if something stays open
   * @param signs whether wires shown to be v or -v are given too
   */
  constructor(system: Normalized, facts: Facts, given: readonly number[], results: readonly number[], signs = true) {
    this.#system = system;
    this.#facts = facts;
    this.#signs = signs;
    const { wires, constraints } = system.system;
    this.#known = new Uint8Array(wires);
    this.#known[0] = 1;
    this.#open = new Uint32Array(constraints);
    this.#wide = new Uint32Array(constraints);
    for (let root = 1; root < wires; root++)
      for (const constraint of system.uses(root)) {
        (this.#open[constraint] as number)++;
        if (!facts.booleans.has(root)) (this.#wide[constraint] as number)++;
      }
    for (let constraint = 0; constraint < constraints; constraint++) {
      if (this.#open[constraint] === 2) this.#pairs.push(constraint);
      if (system.sides(constraint) !== undefined && (this.#open[constraint] === 1 || this.#wide[constraint] === 0))
        this.#queue.push(constraint);
    }
    for (const wire of given) this.#mark(system.root(wire));
    this.#propagate();
    this.#giveResults(results);
    while (this.#trySystem() || this.#tryNestedBits() || this.#tryLongDivision()) this.#propagate();
  }

  /**
   * Gives public inputs that nothing determines. A public input from which nothing follows yet waits, because it may be
   * a result.
   */
  #giveResults(results: readonly number[]): void {
    const waiting = () => results.filter((wire) => !this.isDetermined(wire));
    for (let left = waiting(); left.length > 0; left = waiting()) {
      const useful = left.find((wire) => {
        const root = this.#system.root(wire);
        const steps = this.steps.length;
        this.#mark(root);
        this.#propagate();
        if (this.steps.length > steps) return true;
        this.#unmark(root);
        return false;
      });
      const wire = useful ?? (left[0] as number);
      this.givenPublic.push(wire);
      this.#mark(this.#system.root(wire));
      this.#propagate();
    }
  }

  isDetermined(wire: number): boolean {
    return this.#known[this.#system.root(wire)] === 1;
  }

  /** Where the argument stopped, in the order of the constraints. */
  get blocked(): Blocked[] {
    return [...this.#blocked.values()]
      .filter((blocked) => this.#isBlocked(blocked))
      .sort((a, b) => a.constraint - b.constraint);
  }

  /**
   * Whether the wire of an entry is still the only open one of its constraint. #giveResults can leave an entry of a
   * trial behind, after which #unmark opened another wire of the constraint.
   */
  #isBlocked({ constraint, wire }: Blocked): boolean {
    return this.#open[constraint] === 1 && this.#known[wire] === 0;
  }

  #mark(root: number): void {
    if (this.#known[root] === 1) return;
    this.#known[root] = 1;
    const boolean = this.#facts.booleans.has(root);
    for (const constraint of this.#system.uses(root)) {
      const open = --(this.#open[constraint] as number);
      if (!boolean) (this.#wide[constraint] as number)--;
      if (open === 1 || (open > 1 && this.#wide[constraint] === 0)) this.#queue.push(constraint);
      if (open === 2) this.#pairs.push(constraint);
    }
  }

  /** Undoes #mark, for a root from which nothing followed. */
  #unmark(root: number): void {
    this.#known[root] = 0;
    const boolean = this.#facts.booleans.has(root);
    for (const constraint of this.#system.uses(root)) {
      (this.#open[constraint] as number)++;
      if (!boolean) (this.#wide[constraint] as number)++;
    }
  }

  #propagate(): void {
    do this.#visitQueue();
    while (
      this.#tryBlocked() ||
      this.#tryEither() ||
      this.#tryOneHot() ||
      this.#tryRoot() ||
      this.#tryDivision() ||
      this.#giveSigns()
    );
  }

  /** Records a step and visits the constraints of its wires, so that a chain of such steps takes one pass. */
  #conclude(step: Determination, ...wires: readonly number[]): void {
    this.steps.push(step);
    for (const wire of wires) this.#mark(wire);
    this.#visitQueue();
  }

  #visitQueue(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) this.#visit(next);
  }

  /**
   * A constraint A B = C that computes C's only wire comes before the others, so that a comparison of two computed values
   * is not taken as the definition of one.
   */
  #next(): number | undefined {
    for (let next = this.#queue.pop(); next !== undefined; next = this.#queue.pop()) {
      const sides = this.#system.sides(next) as readonly Form[];
      const result = sides[2];
      if (result === undefined || (result.wires.length === 1 && this.#unknown(result).length === 1)) return next;
      this.#later.push(next);
    }
    return this.#later.pop();
  }

  /** Takes wires shown to be v or -v as given, once v is determined and nothing else follows. */
  #giveSigns(): boolean {
    let changed = false;
    if (!this.#signs) return changed;
    for (const [wire, { of, by }] of this.#facts.signs) {
      if (this.#known[wire] === 1 || this.#unknown(of).length > 0) continue;
      this.steps.push({ rule: "sign", wire, by });
      this.#mark(wire);
      changed = true;
    }
    return changed;
  }

  #unknown(form: Form): number[] {
    return form.wires.filter((wire) => this.#known[wire] === 0);
  }

  #visit(constraint: number): void {
    const sides = this.#system.sides(constraint) as readonly Form[];
    if (this.#open[constraint] === 1) this.#single(constraint, sides);
    else if ((this.#open[constraint] as number) > 1) this.#bits(constraint, sides);
  }

  /** One undetermined wire whose coefficient is not 0 in any satisfying assignment. */
  #single(by: number, sides: readonly Form[]): void {
    const wire = sides.map((side) => this.#unknown(side)[0]).find((found) => found !== undefined) as number;
    const parts = sides.map((side) => side.coefficients[side.wires.indexOf(wire)] ?? 0n);
    let factor: Form;
    if (sides.length === 1) factor = { constant: parts[0] as bigint, wires: [], coefficients: [] };
    else {
      const [a, b] = sides as [Form, Form, Form];
      const [inA, inB, inC] = parts as [bigint, bigint, bigint];
      if (inA !== 0n && inB !== 0n) {
        this.#quadratic.set(by, wire);
        return;
      }
      factor = combine([inA, b], [inB, a], [-inC, { constant: 1n, wires: [], coefficients: [] }]);
    }
    const nonzero = this.#facts.nonzero(factor);
    if (nonzero === undefined) {
      this.#blocked.set(by, { constraint: by, wire, factor });
      return;
    }
    this.steps.push({ rule: "linear", by, wire, nonzero });
    this.#mark(wire);
  }

  /** The undetermined wires with their constant coefficients, if they occur only in C. */
  #sum(sides: readonly Form[]): [number, bigint][] | undefined {
    const sum = sides.at(-1) as Form;
    if (sides.length === 3 && sides.slice(0, 2).some((side) => this.#unknown(side).length > 0)) return undefined;
    return sum.wires.flatMap((wire, i): [number, bigint][] =>
      this.#known[wire] === 0 ? [[wire, sum.coefficients[i] as bigint]] : [],
    );
  }

  /** A sum of bits whose 2^n values differ. */
  #bits(by: number, sides: readonly Form[]): void {
    const sum = this.#sum(sides);
    if (sum !== undefined) this.#tryBits(by, [], sum);
  }

  /** A sum of bits, `by` and multiples of `more`, whose possible values differ. */
  #tryBits(by: number, more: readonly Scaled[], sum: readonly (readonly [number, bigint])[]): boolean {
    if (!sum.every(([wire]) => this.#facts.booleans.has(wire))) return false;
    // Two coefficients of one size exclude every unit. Sums of many numbers, as in SHA-256, are visited often.
    if (new Set(sum.map(([, value]) => smaller(value))).size < sum.length) return false;
    const wires = sum.map(([wire]) => wire);
    const values = sum.map(([, value]) => value);
    const isDistinct = values.some((unit) => sumsDiffer(values, unit));
    const below = isDistinct ? undefined : this.#belowPrime(sum);
    if (!isDistinct && below === undefined) return false;
    this.steps.push({
      rule: "bits",
      by,
      wires,
      ...(more.length === 0 ? {} : { more }),
      ...(below === undefined ? {} : { below }),
    });
    for (const wire of wires) this.#mark(wire);
    return true;
  }

  /** Sums of bits that other wires contain: once these are eliminated, only bits are left. */
  #tryNestedBits(): boolean {
    let changed = false;
    for (const { terms, unknowns } of eliminated(this.#rows(), (wire) => !this.#facts.booleans.has(wire))) {
      const [first, ...others] = terms as [Scaled, ...Scaled[]];
      const factor = inverse(first.scale);
      const more = others.map(({ by, scale }) => ({ by, scale: mod(scale * factor) }));
      const sum = [...unknowns].map(([wire, value]) => [wire, mod(value * factor)] as const);
      if (sum.every(([wire]) => this.#known[wire] === 0) && this.#tryBits(first.by, more, sum)) changed = true;
    }
    return changed;
  }

  /** A comparison that says that the number of these bits is below P, so that no other one is the same modulo P. */
  #belowPrime(sum: readonly (readonly [number, bigint])[]): number | undefined {
    for (const [fact, { wires, exponents, out }] of this.#facts.comparisons) {
      if (out !== undefined) continue;
      const weights = new Map(wires.map((wire, i) => [wire, 1n << BigInt(exponents[i] as number)]));
      const [[first, value]] = sum as [readonly [number, bigint]];
      const unit = mod(value * inverse(weights.get(first) ?? 1n));
      if (sum.every(([wire, k]) => k === mod(unit * (weights.get(wire) ?? 0n)))) return fact;
    }
    return undefined;
  }

  /**
   * F G = 0 and F Y = L determine a wire of G and L: if F is 0, then L is; otherwise G is. The wire is the only open one of
   * F G, so both assignments have the same F.
   */
  #tryBlocked(): boolean {
    let changed = false;
    for (const blocked of this.#blocked.values()) {
      if (!this.#isBlocked(blocked)) continue;
      const { constraint, wire } = blocked;
      const other = this.#caseOther(constraint, wire);
      if (other === undefined) continue;
      this.#conclude({ rule: "case", zero: constraint, other, wire }, wire);
      changed = true;
    }
    return changed;
  }

  #caseOther(constraint: number, wire: number): number | undefined {
    const [a, b, c] = this.#system.sides(constraint) as readonly Form[];
    if (a === undefined || b === undefined || c === undefined || !isZero(c)) return undefined;
    const factor = a.wires.includes(wire) ? b : a;
    return this.#system.uses(factor.wires[0] as number).find((other) => {
      const [x, y, l] = this.#system.sides(other) as readonly Form[];
      if (other === constraint || x === undefined || y === undefined || l === undefined) return false;
      if (!l.wires.includes(wire) || this.#unknown(l).length !== 1) return false;
      return [x, y].some((side) => ratio(side, factor) !== undefined);
    });
  }

  /** A sum of flags f_i with f_i g_i = 0, where at most one g_i is 0. */
  #tryOneHot(): boolean {
    let changed = false;
    for (let by = 0; by < this.#system.system.constraints; by++) {
      const sides = this.#system.sides(by);
      if (sides === undefined || (this.#open[by] as number) < 2) continue;
      const sum = this.#sum(sides);
      if (sum === undefined || sum.length < 2) continue;
      const seen = new Set<string>();
      let line: string | undefined;
      const flags = sum.map(([wire]) => {
        const flag = this.#flagOf(wire);
        if (flag === undefined) return undefined;
        const { constant, ...direction } = flag.condition;
        const scale = inverse(direction.coefficients[0] as bigint);
        const named = lineOf({ constant: 0n, ...direction });
        line ??= named;
        const place = keyOf({ constant: mod(constant * scale), wires: [], coefficients: [] });
        if (named !== line || seen.has(place)) return undefined;
        seen.add(place);
        return flag.by;
      });
      if (flags.some((flag) => flag === undefined)) continue;
      const wires = sum.map(([wire]) => wire);
      this.#conclude({ rule: "one_hot", by, wires, flags: flags as number[] }, ...wires);
      changed = true;
    }
    return changed;
  }

  /** wire * condition = 0 for a determined condition. */
  #flagOf(wire: number): { by: number; condition: Form } | undefined {
    for (const by of this.#system.uses(wire)) {
      const [a, b, c] = this.#system.sides(by) as readonly Form[];
      if (a === undefined || b === undefined || c === undefined || !isZero(c)) continue;
      for (const [flag, condition] of [
        [a, b],
        [b, a],
      ] as const)
        if (flag.wires.length === 1 && flag.wires[0] === wire && flag.constant === 0n)
          if (this.#unknown(condition).length === 0) return { by, condition };
    }
    return undefined;
  }

  /** Two constraints that are linear in a wire, whose factors are not both 0 because their difference is a constant. */
  #tryEither(): boolean {
    let changed = false;
    const seen = new Map<string, { by: number; place: bigint }>();
    for (const blocked of this.#blocked.values()) {
      if (!this.#isBlocked(blocked)) continue;
      const { constraint, wire, factor } = blocked;
      const [lead] = factor.coefficients;
      if (lead === undefined) continue;
      const place = mod(factor.constant * inverse(lead));
      const key = `${wire} ${lineOf({ ...factor, constant: 0n })}`;
      const other = seen.get(key);
      if (other === undefined) seen.set(key, { by: constraint, place });
      else if (other.place !== place) {
        this.#conclude({ rule: "either", by: [other.by, constraint], wire }, wire);
        changed = true;
      }
    }
    return changed;
  }

  /** A square root whose bits are at most (P - 1) / 2, or tell whether they are. */
  #tryRoot(): boolean {
    let changed = false;
    for (const [by, wire] of this.#quadratic) {
      if (this.#open[by] !== 1 || this.#known[wire] === 1) continue;
      const [a, b] = this.#system.sides(by) as readonly [Form, Form];
      if ([a, b].some((side) => side.wires.length !== 1 || side.constant !== 0n)) continue;
      if (this.#unknown((this.#system.sides(by) as readonly Form[])[2] as Form).length > 0) continue;
      for (const sum of this.#system.uses(wire)) {
        const premises = this.#rootPremises(sum, wire);
        if (premises === undefined) continue;
        this.#conclude({ rule: "root", by, wire, sum, ...premises }, wire);
        changed = true;
        break;
      }
    }
    return changed;
  }

  /** What shows that the number of the bits of a wire tells it from its negative. */
  #rootPremises(by: number, wire: number): { below?: number; half?: number } | undefined {
    const sides = this.#system.sides(by) as readonly Form[];
    const [sum] = sides as readonly [Form];
    if (sides.length > 1 || sum.constant !== 0n) return undefined;
    const scale = inverse(mod(-(sum.coefficients[sum.wires.indexOf(wire)] as bigint)));
    const bits = new Map(sum.wires.map((bit, i) => [bit, mod((sum.coefficients[i] as bigint) * scale)]));
    bits.delete(wire);
    if (![...bits.keys()].every((bit) => this.#facts.booleans.has(bit))) return undefined;
    const half = (P - 1n) / 2n;
    if ([...bits.values()].reduce((total, value) => total + value, 0n) <= half) return {};
    const isOf = ({ wires, exponents }: Comparison) =>
      wires.length === bits.size && wires.every((bit, i) => bits.get(bit) === 1n << BigInt(exponents[i] as number));
    const facts = [...this.#facts.comparisons].filter(([, comparison]) => isOf(comparison));
    const bounds = facts.filter(([, { out }]) => out === undefined);
    const small = bounds.find(([, { bound }]) => bound <= half);
    if (small !== undefined) return { below: small[0] };
    const result = facts.find(([, { out, bound }]) => out !== undefined && bound === half && this.#known[out] === 1);
    const [below] = bounds;
    return result === undefined || below === undefined ? undefined : { below: below[0], half: result[0] };
  }

  /** Division with remainder. */
  #tryDivision(): boolean {
    let changed = false;
    for (let by = this.#pairs.pop(); by !== undefined; by = this.#pairs.pop()) {
      if (this.#open[by] !== 2) continue;
      this.#divisions ??= new Divisions(this.#system, this.#facts.booleans);
      const step = this.#divisions.find(by, (wire) => this.#known[wire] === 1);
      if (step === undefined) continue;
      this.#conclude(step, step.quotient, step.remainder);
      changed = true;
    }
    return changed;
  }

  /** Division with remainder of numbers in limbs. */
  #tryLongDivision(): boolean {
    const open: number[] = [];
    for (const [by, count] of this.#open.entries())
      if (count > 0 && this.#system.sides(by) !== undefined) open.push(by);
    if (open.length === 0) return false;
    this.#longDivisions ??= new LongDivisions(this.#system, this.#facts.booleans);
    const found = this.#longDivisions.find(open, (wire) => this.#known[wire] === 1);
    for (const step of found) {
      this.steps.push(step);
      for (const { wire } of [...step.quotient, ...step.remainder]) this.#mark(wire);
    }
    return found.length > 0;
  }

  /** Linear equations with constant coefficients that determine a wire together. */
  #trySystem(): boolean {
    const solved = solve(this.#rows());
    for (const { wires, by } of solved) {
      this.steps.push({ rule: "system", wires, by });
      for (const wire of wires) this.#mark(wire);
    }
    return solved.length > 0;
  }

  /** The constraints with several undetermined wires, all with constant coefficients. */
  #rows(): { by: number; terms: [number, bigint][] }[] {
    const rows: { by: number; terms: [number, bigint][] }[] = [];
    for (let by = 0; by < this.#system.system.constraints; by++) {
      const sides = this.#system.sides(by);
      if (sides === undefined || (this.#open[by] as number) < 2) continue;
      const terms = this.#sum(sides);
      if (terms !== undefined && terms.length > 1) rows.push({ by, terms });
    }
    return rows;
  }
}

/** The smaller one of a number and its negative. */
const smaller = (value: bigint): bigint => (value > P / 2n ? P - value : value);

/**
 * Whether all sums of bits times coefficients differ. In multiples of `unit`, each coefficient exceeds the sum of all
 * smaller ones, and all of them together stay below P.
 */
function sumsDiffer(coefficients: readonly bigint[], unit: bigint): boolean {
  const factor = inverse(unit);
  const sizes = coefficients.map((value) => smaller((value * factor) % P));
  sizes.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  let sum = 0n;
  for (const size of sizes) {
    if (size <= sum) return false;
    sum += size;
  }
  return sum < P;
}
