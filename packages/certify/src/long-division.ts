import { inOrder, sumOfBits } from "./compare.ts";
import { inverse, mod, P, smallest } from "./field.ts";
import { combine, type Form, isZero, ratio } from "./form.ts";
import {
  eliminateIntegers,
  gcd,
  type IntegerRow,
  integerEquations,
  Monomials,
  type Terms,
  type Wires,
} from "./integers.ts";
import type { Normalized } from "./normalize.ts";
import { absolute, add, ONE, product, type Range, Ranges, times } from "./ranges.ts";
import type { Limb, LongDivision, Scaled } from "./steps.ts";

// Division with remainder of numbers in limbs. docs/certificate.md has the argument ("Long division").

/** Maximum number of bits that tell which limbs are less or equal. */
const MAX_LEAVES = 14;
/** Maximum number of wires that constraints compute from them. */
const MAX_DEFINITIONS = 64;
/** Maximum number of constraints that exclude choices. */
const MAX_CHECKS = 200;
/** Maximum number of terms that all choices evaluate together. */
const MAX_EVALUATED = 2 ** 23;
/** Constraints that a comparison of two limbs adds up. */
const MAX_COMPARISON = 2;
/** Maximum number of guesses which wires are the quotient of a constant divisor. */
const MAX_GUESSES = 6;

/** A wire that is 0 or 1, and 1 only if the form is 0. */
interface Flag {
  readonly wire: number;
  readonly zero: number;
  readonly other: number;
  readonly form: Form;
}

/** A limb of a remainder and what compares it with a determined form. */
interface Compared {
  readonly wire: number;
  /** limb - divisor's limb, without constants: the limb's factor is 1. */
  readonly difference: ReadonlyMap<number, bigint>;
  readonly terms: readonly Scaled[];
  /** difference = constant - the sum of bits times their factors. */
  readonly bits: ReadonlyMap<number, bigint>;
  readonly constant: bigint;
  /** difference = offset if the flag is 1. */
  readonly equal: Limb["equal"] & { readonly offset: bigint };
  readonly flag: Flag;
}

/** Divisions of numbers in limbs. The ranges and flags of all wires are found once. */
export class LongDivisions {
  readonly #system: Normalized;
  readonly #booleans: ReadonlySet<number>;
  readonly #ranges: Ranges;
  readonly #flags: readonly Flag[];
  readonly #names: Monomials;

  constructor(system: Normalized, booleans: ReadonlySet<number>) {
    this.#system = system;
    this.#booleans = booleans;
    this.#names = new Monomials(system.system.wires);
    this.#flags = findFlags(system);
    this.#ranges = new Ranges(system, booleans);
  }

  /** The steps that the open constraints give. */
  find(open: readonly number[], isKnown: (wire: number) => boolean): LongDivision[] {
    const limbs = this.#compared(isKnown);
    if (limbs.length === 0) return [];
    const isLimb = new Set(limbs.map(({ wire }) => wire));
    const wires: Wires = {
      isKnown,
      isBit: (wire) => this.#booleans.has(wire),
      range: (wire) => this.#ranges.get(wire),
    };
    return integerEquations(this.#system, this.#names, open, wires).flatMap((equations) => {
      for (const quotient of this.#quotients(equations, wires, isLimb)) {
        const isEliminated = (wire: number) => wire !== 0 && !isKnown(wire) && !isLimb.has(wire) && !quotient.has(wire);
        for (const row of eliminateIntegers(equations, this.#names, isEliminated)) {
          const step = this.#step(row, equations, limbs, quotient, isKnown);
          if (step !== undefined) return [step];
        }
      }
      return [];
    });
  }

  /**
   * The wires that may be a quotient's: those that determined wires multiply. If the divisor is a constant, there are none; then those
   * of the numbers with bits of their own that the most constraints contain, because a product of limbs spreads each of them.
   */
  #quotients(
    equations: readonly { readonly terms: Terms }[],
    { isKnown, isBit }: Wires,
    isLimb: ReadonlySet<number>,
  ): ReadonlySet<number>[] {
    const factors = new Set<number>();
    const uses = new Map<number, number>();
    for (const { terms } of equations)
      for (const key of terms.keys()) {
        const [a, b] = this.#names.wires(key);
        for (const wire of [a, b]) {
          if (wire === 0 || isKnown(wire)) continue;
          if (a !== 0) factors.add(wire);
          if (!isBit(wire) && !isLimb.has(wire) && this.#ranges.hasBits(wire))
            uses.set(wire, this.#system.uses(wire).length);
        }
      }
    if (factors.size > 0) return [factors];
    const counts = [...new Set(uses.values())].sort((x, y) => y - x).slice(0, MAX_GUESSES);
    return counts.map((least) => new Set([...uses].flatMap(([wire, count]) => (count >= least ? [wire] : []))));
  }

  /** Open wires that a flag and a sum of bits compare with a determined form. */
  #compared(isKnown: (wire: number) => boolean): Compared[] {
    return this.#flags.flatMap((flag) => {
      const [wire, ...others] = flag.form.wires;
      const named = wire !== undefined && others.length === 0 ? this.#namedBy(wire) : [];
      for (const { form, terms } of [{ form: flag.form, terms: [] }, ...named]) {
        const limb = form.wires.filter((one) => !isKnown(one));
        const [first] = limb;
        if (first === undefined || limb.length > 1 || this.#booleans.has(first)) continue;
        const scale = inverse(form.coefficients[form.wires.indexOf(first)] as bigint);
        const difference = new Map(
          form.wires.map((one, i) => [one, smallest((form.coefficients[i] as bigint) * scale)]),
        );
        const offset = smallest(-form.constant * scale);
        const equal = { by: flag.zero, flag: flag.wire, terms, offset };
        const comparisons = this.#comparisons(first, difference);
        // One of circomlib's says that the limb is less. A range check says something else, if the divisor's limb is a constant.
        const comparison = comparisons.find((one) => this.#least(one) === offset - 1n) ?? comparisons[0];
        if (comparison !== undefined) return [{ wire: first, difference, equal, flag, ...comparison }];
      }
      return [];
    });
  }

  /** The forms of at most two wires that linear constraints give to a wire. */
  #namedBy(wire: number): { form: Form; terms: Scaled[] }[] {
    return this.#system.uses(wire).flatMap((by) => {
      const sum = this.#system.sides(by)?.[0] as Form;
      if (!this.#system.isLinear(by) || sum.wires.length > 3) return [];
      const scale = inverse(sum.coefficients[sum.wires.indexOf(wire)] as bigint);
      const form = combine([mod(-scale), sum], [1n, { constant: 0n, wires: [wire], coefficients: [1n] }]);
      // The constraint is -sum = 0, and wire + scale (-sum) = form.
      return [{ form, terms: [{ by, scale }] }];
    });
  }

  /** The smallest bound of the difference that the highest bit can tell. */
  #least({ bits, constant }: Pick<Compared, "bits" | "constant">): bigint {
    const top = highest(bits);
    const bounds = [0n, 1n].map((value) => constant - this.#sum(bits, (bit) => (bit === top ? value : undefined)).low);
    return inOrder(bounds)[0] as bigint;
  }

  /** Constraints that add up to the difference, a constant and bits. */
  #comparisons(limb: number, difference: ReadonlyMap<number, bigint>): Pick<Compared, "terms" | "bits" | "constant">[] {
    const found: Pick<Compared, "terms" | "bits" | "constant">[] = [];
    for (const start of this.#system.uses(limb)) {
      if (!this.#system.isLinear(start)) continue;
      const sum = sumOfBits(
        this.#system,
        (wire) => this.#booleans.has(wire) || difference.has(wire),
        start,
        MAX_COMPARISON,
      );
      const unit = sum?.linear.get(limb);
      if (sum === undefined || unit === undefined || unit === 0n) continue;
      if (sum.products.length > 0) continue;
      const scale = inverse(unit);
      const linear = new Map([...sum.linear].map(([wire, value]) => [wire, smallest(value * scale)]));
      if ([...difference].some(([wire, k]) => linear.get(wire) !== k)) continue;
      for (const wire of difference.keys()) linear.delete(wire);
      for (const [wire, k] of linear) if (k === 0n) linear.delete(wire);
      found.push({
        terms: sum.terms.map(({ by, scale: k }) => ({ by, scale: mod(k * scale) })),
        bits: linear,
        constant: smallest(-sum.constant * scale),
      });
    }
    return found;
  }

  #step(
    row: IntegerRow,
    equations: readonly { readonly sources: readonly Scaled[]; readonly terms: Terms }[],
    limbs: readonly Compared[],
    quotient: ReadonlySet<number>,
    isKnown: (wire: number) => boolean,
  ): LongDivision | undefined {
    for (const sign of [1n, -1n]) {
      const vanishing = this.#vanishing(
        row.terms,
        (wire) => quotient.has(wire) || limbs.some((limb) => limb.wire === wire),
        isKnown,
      );
      const parts = vanishing && this.#parts(row.terms, sign, vanishing, quotient, limbs, isKnown);
      if (vanishing === undefined || parts === undefined) continue;
      const { factors, remainder, divisor } = parts;
      const chosen = matching(remainder, divisor, limbs);
      if (chosen === undefined || !this.#isNumber(factors) || !this.#isNumber(remainder)) continue;
      const lowest = [...remainder].reduce(
        (low, [wire, weight]) => low + weight * (this.#ranges.get(wire) as Range).low,
        0n,
      );
      const cases = lowest < 0n ? undefined : this.#cases(chosen, remainder, divisor.get(0) ?? 0n);
      if (cases === undefined) continue;
      const used = [...row.weights].map(([i, weight]) => ({
        equation: equations[i] as (typeof equations)[number],
        weight,
      }));
      const ranged = new Set(
        used.flatMap(({ equation }) => [...equation.terms.keys()].flatMap((key) => this.#names.wires(key))),
      );
      for (const { difference, bits } of chosen)
        for (const wire of [...difference.keys(), ...bits.keys()]) ranged.add(wire);
      return {
        rule: "long_division",
        ranges: this.#ranges.steps(ranged),
        flags: chosen.map(({ flag: { zero, other, wire } }) => ({ zero, other, wire })),
        equations: used.map(({ equation, weight }) => ({ terms: equation.sources, weight: weight * sign })),
        vanishing,
        quotient: [...factors].map(([wire, weight]) => ({ wire, weight })),
        remainder: chosen.map(({ wire, terms, equal: { by, flag, terms: more } }) => ({
          wire,
          weight: remainder.get(wire) as bigint,
          terms,
          equal: { by, flag, terms: more },
        })),
        ...cases,
      };
    }
    return undefined;
  }

  /** Other wires of a sum that is 0, largest factor first: each exceeds all terms that are left, so it is 0. */
  #vanishing(
    terms: Terms,
    isPart: (wire: number) => boolean,
    isKnown: (wire: number) => boolean,
  ): number[] | undefined {
    const isOpen = (wire: number) => wire !== 0 && !isKnown(wire);
    const others = [...terms].flatMap(([key, k]) => {
      const [a, wire] = this.#names.wires(key);
      return a === 0 && isOpen(wire) && !isPart(wire) ? [{ wire, k: k < 0n ? -k : k, key }] : [];
    });
    others.sort((x, y) => (x.k < y.k ? 1 : x.k > y.k ? -1 : 0));
    const rest = new Map(terms);
    for (const { k, key } of others) {
      rest.delete(key);
      const { low, high } = this.#reach(rest);
      if (low <= -k || high >= k) return undefined;
    }
    return others.map(({ wire }) => wire);
  }

  /** Bounds of a sum of products. */
  #reach(terms: Terms): Range {
    return [...terms].reduce<Range>(
      (total, [key, k]) => {
        const [a, b] = this.#names.wires(key).map((wire) => (wire === 0 ? ONE : (this.#ranges.get(wire) as Range)));
        return add(total, times(k, product(a as Range, b as Range)));
      },
      { low: 0n, high: 0n },
    );
  }

  /** The quotient's and the remainder's wires with their weights, and the divisor, of an equation of this form. */
  #parts(
    terms: Terms,
    sign: bigint,
    vanishing: readonly number[],
    quotient: ReadonlySet<number>,
    limbs: readonly Compared[],
    isKnown: (wire: number) => boolean,
  ): { factors: Map<number, bigint>; remainder: Map<number, bigint>; divisor: Map<number, bigint> } | undefined {
    const coefficients = new Map<number, Map<number, bigint>>();
    for (const [key, value] of terms) {
      const [a, b] = this.#names.wires(key);
      const [open, other] = isKnown(b) ? [a, b] : [b, a];
      if (open === 0 || isKnown(open) || vanishing.includes(open)) continue;
      if (other !== 0 && !isKnown(other)) return undefined;
      const form = coefficients.get(open) ?? new Map<number, bigint>();
      coefficients.set(open, form.set(other, value * sign));
    }
    const remainder = new Map<number, bigint>();
    for (const [wire, form] of coefficients) if (!quotient.has(wire)) remainder.set(wire, form.get(0) as bigint);
    const factors = new Map<number, bigint>();
    // A constant divisor is the sum of the numbers to which the limbs are equal.
    const constant = [...remainder].reduce(
      (sum, [wire, weight]) => sum + weight * (limbs.find((limb) => limb.wire === wire)?.equal.offset ?? 0n),
      0n,
    );
    let divisor: Map<number, bigint> | undefined;
    for (const [wire, form] of coefficients) {
      if (!quotient.has(wire)) continue;
      const isConstant = [...form.keys()].every((key) => key === 0);
      const content = isConstant
        ? (form.get(0) as bigint) / (constant === 0n ? 1n : constant)
        : [...form.values()].reduce(gcd, 0n);
      const weight = !isConstant && [...form.values()].reduce(larger) < 0n ? -content : content;
      if (weight === 0n || [...form.values()].some((value) => value % weight !== 0n)) return undefined;
      const primitive = new Map([...form].map(([key, value]) => [key, value / weight]));
      divisor ??= primitive;
      if (!isSame(divisor, primitive)) return undefined;
      factors.set(wire, weight);
    }
    return divisor === undefined || remainder.size === 0 ? undefined : { factors, remainder, divisor };
  }

  /** Whether different values of the wires give different sums. */
  #isNumber(weights: ReadonlyMap<number, bigint>): boolean {
    const sizes = [...weights].map(([wire, weight]) => {
      const { low, high } = this.#ranges.get(wire) as Range;
      return { weight: weight < 0n ? -weight : weight, width: high - low };
    });
    sizes.sort((a, b) => (a.weight < b.weight ? -1 : a.weight > b.weight ? 1 : 0));
    let sum = 0n;
    for (const { weight, width } of sizes) {
      if (weight <= sum) return false;
      sum += weight * width;
    }
    return true;
  }

  /** What shows that the remainder is less than the divisor: each choice of the leaves contradicts a constraint, or it is. */
  #cases(
    limbs: readonly Compared[],
    weights: ReadonlyMap<number, bigint>,
    constant: bigint,
  ): Pick<LongDivision, "leaves" | "definitions" | "checks"> | undefined {
    const leaves = [...new Set(limbs.flatMap(({ bits, equal }) => [highest(bits), equal.flag]))].filter(
      (wire) => wire !== undefined,
    );
    if (leaves.length > MAX_LEAVES) return undefined;
    for (const { difference, bits, constant: rest, equal } of limbs) {
      const left = this.#sum(difference, () => undefined);
      const right = add(
        this.#sum(bits, () => undefined),
        { low: -rest, high: -rest },
      );
      const whole = add(left, right);
      const size = absolute(larger(left.low, left.high));
      if (-whole.low >= P || whole.high >= P || size + absolute(equal.offset) >= P) return undefined;
    }
    const { definitions, checks } = this.#circuit(leaves);
    const valued = new Set([...leaves, ...definitions.map(({ wire }) => wire)]);
    const bounds = limbs.map(({ wire, bits, constant: rest, equal }) => {
      const free = new Map([...bits].filter(([bit]) => !valued.has(bit)));
      return {
        weight: weights.get(wire) as bigint,
        fixed: [...bits].filter(([bit]) => valued.has(bit)),
        highest: rest - this.#sum(free, () => undefined).low,
        equal,
      };
    });
    const size =
      [...definitions.map(({ by }) => by), ...checks].reduce((sum, by) => sum + this.#termsOf(by), 0) +
      bounds.reduce((sum, { fixed }) => sum + fixed.length + 1, 0);
    if (size * 2 ** leaves.length > MAX_EVALUATED) return undefined;
    for (let choice = 0; choice < 2 ** leaves.length; choice++) {
      const values = new Map(leaves.map((wire, i) => [wire, BigInt((choice >> i) & 1)]));
      if (!this.#isPossible(values, definitions, checks)) continue;
      const most = bounds.reduce((sum, { weight, fixed, highest: highestFree, equal }) => {
        const bound = fixed.reduce((rest, [bit, k]) => rest - k * (values.get(bit) as bigint), highestFree);
        return sum + weight * (values.get(equal.flag) === 1n && equal.offset < bound ? equal.offset : bound);
      }, -constant);
      if (most > -1n) return undefined;
    }
    return { leaves, definitions, checks };
  }

  /** At least the number of terms of a constraint, constants included. */
  #termsOf(by: number): number {
    return (this.#system.sides(by) as readonly Form[]).reduce((sum, { wires }) => sum + wires.length + 1, 1);
  }

  #sum(terms: ReadonlyMap<number, bigint>, valueAt: (wire: number) => bigint | undefined): Range {
    let total: Range = { low: 0n, high: 0n };
    for (const [wire, k] of terms) {
      const value = valueAt(wire);
      total = add(
        total,
        times(k, value === undefined ? (this.#ranges.get(wire) as Range) : { low: value, high: value }),
      );
    }
    return total;
  }

  /** The constraints between the leaves, and wires that they compute. */
  #circuit(leaves: readonly number[]): Pick<LongDivision, "definitions" | "checks"> {
    const known = new Set(leaves);
    const definitions: { by: number; wire: number }[] = [];
    const checks: number[] = [];
    const seen = new Set<number>();
    const queue = [...leaves];
    for (let next = queue.shift(); next !== undefined; next = queue.shift())
      for (const by of this.#system.uses(next)) {
        const sides = this.#system.sides(by) as readonly Form[];
        const wires = new Set(sides.flatMap((side) => side.wires));
        const open = [...wires].filter((wire) => !known.has(wire));
        const [wire, ...others] = open;
        if (seen.has(by) || others.length > 0) continue;
        if (wire === undefined) {
          seen.add(by);
          // A bit's own equation excludes no choice.
          if (wires.size > 1 && checks.length < MAX_CHECKS) checks.push(by);
          continue;
        }
        if (sides.slice(0, -1).some((side) => side.wires.includes(wire)) || definitions.length === MAX_DEFINITIONS)
          continue;
        seen.add(by);
        known.add(wire);
        definitions.push({ by, wire });
        queue.push(wire);
      }
    return { definitions, checks };
  }

  /** Whether values of the leaves satisfy the constraints between them. */
  #isPossible(
    values: Map<number, bigint>,
    definitions: LongDivision["definitions"],
    checks: LongDivision["checks"],
  ): boolean {
    const at = (form: Form) =>
      form.wires.reduce(
        (sum, wire, i) => sum + (form.coefficients[i] as bigint) * (values.get(wire) ?? 0n),
        form.constant,
      );
    const residual = (by: number) => {
      const sides = this.#system.sides(by) as readonly Form[];
      const [a, b] = sides;
      return sides.length === 3 ? at(a as Form) * at(b as Form) - at(sides[2] as Form) : -at(a as Form);
    };
    for (const { by, wire } of definitions) {
      const sum = (this.#system.sides(by) as readonly Form[]).at(-1) as Form;
      values.set(wire, smallest(residual(by) * inverse(sum.coefficients[sum.wires.indexOf(wire)] as bigint)));
    }
    return checks.every((by) => mod(residual(by)) === 0n);
  }
}

const larger = (a: bigint, b: bigint): bigint => (absolute(a) < absolute(b) ? b : a);

/** The bit with the largest factor. */
const highest = (bits: ReadonlyMap<number, bigint>): number | undefined =>
  [...bits].reduce<readonly [number, bigint] | undefined>(
    (best, one) => (best === undefined || larger(best[1], one[1]) === one[1] ? one : best),
    undefined,
  )?.[0];

const isSame = (a: ReadonlyMap<number, bigint>, b: ReadonlyMap<number, bigint>): boolean =>
  a.size === b.size && [...a].every(([key, value]) => b.get(key) === value);

/** A comparison of each limb of the remainder, so that the weighted differences add up to the remainder less the divisor. */
function matching(
  remainder: ReadonlyMap<number, bigint>,
  divisor: ReadonlyMap<number, bigint>,
  limbs: readonly Compared[],
): Compared[] | undefined {
  const rest = new Map(divisor);
  rest.delete(0);
  const chosen: Compared[] = [];
  for (const [wire, weight] of remainder) {
    if (weight <= 0n) return undefined;
    const limb = limbs.find(
      (one) =>
        one.wire === wire &&
        [...one.difference].every(([other, k]) => other === wire || (rest.get(other) ?? 0n) === -k * weight),
    );
    if (limb === undefined) return undefined;
    for (const other of limb.difference.keys()) rest.delete(other);
    chosen.push(limb);
  }
  return rest.size === 0 ? chosen : undefined;
}

/** Wires that IsZero's constraints make 0 or 1: F wire = 0, and F Y is a multiple of 1 - wire. */
function findFlags(system: Normalized): Flag[] {
  const found: Flag[] = [];
  for (let zero = 0; zero < system.system.constraints; zero++) {
    const [a, b, c] = system.sides(zero) ?? [];
    if (a === undefined || b === undefined || c === undefined || !isZero(c)) continue;
    for (const [form, { wires, constant }] of [
      [a, b],
      [b, a],
    ] as const) {
      const [wire] = wires;
      if (wire === undefined || wires.length > 1 || constant !== 0n || form.wires.includes(wire)) continue;
      const other = system.uses(wire).find((by) => {
        const [x, y, rest] = system.sides(by) ?? [];
        if (by === zero || x === undefined || y === undefined || rest?.wires.length !== 1 || rest.wires[0] !== wire)
          return false;
        return (
          mod(rest.constant + (rest.coefficients[0] as bigint)) === 0n &&
          [x, y].some((side) => ratio(side, form) !== undefined)
        );
      });
      if (other !== undefined) found.push({ wire, zero, other, form });
    }
  }
  return found;
}
