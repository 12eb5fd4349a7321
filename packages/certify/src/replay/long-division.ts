import type { CertificateFile } from "./certificate.ts";
import type { Circuit } from "./division.ts";
import { centred, inverse, mod, P } from "./field.ts";
import { need } from "./need.ts";

type LongDivision = Extract<CertificateFile["steps"][number], { rule: "long_division" }>;
type Scaled = { readonly by: number; readonly scale: bigint };
type Terms = ReadonlyMap<number, bigint>;
type Sides = readonly [Terms, Terms, Terms];
type Bounds = readonly [low: bigint, high: bigint];

const CONSTANT = 0;
/** Each choice of so many bits is tried at most. */
const MAX_LEAVES = 14;
/** Terms that all choices of the leaves evaluate together. */
const MAX_EVALUATED = 2 ** 23;
/** Products of terms that one constraint has at most. */
const MAX_PRODUCTS = 10_000;

/** Constraints that are evaluated for each choice of the leaves. */
interface Equations {
  /** The wire is `scale` times A B less the other terms of C. */
  readonly definitions: readonly { readonly wire: number; readonly sides: Sides; readonly scale: bigint }[];
  readonly checks: readonly Sides[];
  /** Number of their terms. */
  readonly size: number;
}

const absolute = (value: bigint): bigint => (value < 0n ? -value : value);
const inOrder = (x: bigint, y: bigint): number => (x < y ? -1 : x > y ? 1 : 0);

/** Bounds of k times a number from `low` to `high`. */
const stretched = (k: bigint, [low, high]: Bounds): Bounds => (k < 0n ? [k * high, k * low] : [k * low, k * high]);

/** Adds k times a term to a sum, in integers. */
function put<Key>(sum: Map<Key, bigint>, key: Key, k: bigint): void {
  sum.set(key, (sum.get(key) ?? 0n) + k);
}

/** Follows one step. The integer of a wire is its representative of smallest absolute value. */
class LongDivisionReplay {
  readonly #circuit: Circuit;
  readonly #step: LongDivision;
  readonly #bounds = new Map<number, Bounds>([[CONSTANT, [1n, 1n]]]);
  readonly #flags = new Set<number>();

  constructor(step: LongDivision, circuit: Circuit) {
    this.#step = step;
    this.#circuit = circuit;
  }

  run(): void {
    const { ranges, flags, quotient, remainder } = this.#step;
    const determined = [...quotient, ...remainder].map(({ wire }) => wire);
    need(quotient.length > 0 && remainder.length > 0, "nothing is divided");
    need(new Set(determined).size === determined.length, "one wire twice");
    need(
      !determined.includes(CONSTANT) && !determined.some(this.#circuit.isKnown),
      "a wire that is determined already",
    );
    for (const { by, wire } of ranges) this.#range(by, wire);
    for (const flag of flags) this.#flag(flag);
    const divisor = this.#divisor();
    this.#assertNumber(quotient);
    this.#assertNumber(remainder);
    let least = 0n;
    for (const { wire, weight } of remainder) {
      need(weight > 0n, "a limb without weight");
      least += weight * this.#at(wire)[0];
    }
    need(least >= 0n, "the remainder may be negative");
    this.#less(divisor);
  }

  #at(wire: number): Bounds {
    const known = this.#bounds.get(wire);
    if (known !== undefined) return known;
    need(this.#circuit.isBit(wire), `wire ${wire} has no range`);
    return [0n, 1n];
  }

  /** Bounds of a linear sum of integers. */
  #spread(terms: Iterable<readonly [wire: number, k: bigint]>): Bounds {
    let [low, high] = [0n, 0n];
    for (const [wire, k] of terms) {
      const [least, most] = stretched(k, this.#at(wire));
      [low, high] = [low + least, high + most];
    }
    return [low, high];
  }

  /** The sum of constraints that are linear, modulo P. */
  #sum(parts: readonly Scaled[], start: Terms = new Map()): Map<number, bigint> {
    const total = new Map(start);
    for (const { by, scale } of parts) {
      const terms = this.#circuit.linear(by);
      need(terms !== undefined, `constraint ${by} is not linear`);
      for (const [wire, k] of terms) put(total, wire, k * scale);
    }
    return new Map([...total].map(([wire, k]) => [wire, mod(k)] as const).filter(([, k]) => k !== 0n));
  }

  /** A wire that is a sum of integers from -P / 2 to P / 2. */
  #range(by: number, wire: number): void {
    const terms = this.#circuit.linear(by);
    const own = terms?.get(wire);
    need(terms !== undefined && own !== undefined && wire !== CONSTANT, "a range of another wire");
    need(!this.#bounds.has(wire), "two ranges of a wire");
    const scale = inverse(-own);
    const [low, high] = this.#spread(
      new Map([...terms].flatMap(([key, k]) => (key === wire ? [] : [[key, centred(k * scale)] as const]))),
    );
    need(2n * low > -P && 2n * high < P, "a range that is too wide");
    this.#bounds.set(wire, [low, high]);
  }

  /** F wire = 0 and F Y = k (1 - wire), with k not 0: if F is 0, the wire is 1, and otherwise 0. */
  #flag({ zero, other, wire }: LongDivision["flags"][number]): void {
    const [a, b, c] = this.#circuit.expand(zero);
    const [x, y, rest] = this.#circuit.expand(other);
    const isWire = (terms: Terms) => terms.size === 1 && terms.has(wire);
    need(wire !== CONSTANT && c.size === 0, "not a product that is 0");
    need(isWire(a) || isWire(b), "not a product with the flag");
    const factor = isWire(a) ? b : a;
    const k = rest.get(CONSTANT) ?? 0n;
    need(rest.size === 2 && k !== 0n && mod((rest.get(wire) ?? 0n) + k) === 0n, "not a multiple of 1 - flag");
    need(isMultiple(x, factor) || isMultiple(y, factor), "another factor");
    this.#flags.add(wire);
  }

  /** The equation quotient * divisor + remainder = something determined, in integers. @returns the divisor */
  #divisor(): Terms {
    const { equations, vanishing, quotient, remainder } = this.#step;
    const total = new Map<string, bigint>();
    for (const { terms, weight } of equations)
      for (const [monomial, k] of this.#equation(terms)) put(total, monomial, weight * k);
    for (const wire of vanishing) this.#vanish(total, wire);
    const factorOf = new Map<number, Map<number, bigint>>();
    for (const [monomial, k] of total) {
      const [left, right] = monomial.split(" ").map(Number) as [number, number];
      const isOpen = (wire: number) => wire !== CONSTANT && !this.#circuit.isKnown(wire);
      if (k === 0n || (!isOpen(left) && !isOpen(right))) continue;
      need(!isOpen(left) || !isOpen(right), "a product of two unknown wires");
      const [open, other] = isOpen(left) ? [left, right] : [right, left];
      const factor = factorOf.get(open) ?? new Map<number, bigint>();
      factorOf.set(open, factor.set(other, k));
    }
    for (const { wire, weight } of remainder) {
      const factor = factorOf.get(wire);
      need(factor?.size === 1 && factor.get(CONSTANT) === weight, "another weight in the remainder");
    }
    let divisor: Terms | undefined;
    for (const { wire, weight } of quotient) {
      const factor = factorOf.get(wire);
      need(factor !== undefined && weight !== 0n, "a wire that is not in the quotient");
      const quotients = new Map([...factor].map(([key, k]) => [key, k / weight] as const));
      need(
        [...factor].every(([, k]) => k % weight === 0n && k !== 0n),
        "a factor that is no multiple of the divisor",
      );
      divisor ??= quotients;
      need(
        divisor.size === quotients.size && [...quotients].every(([key, k]) => divisor?.get(key) === k),
        "two divisors",
      );
    }
    need(factorOf.size === quotient.length + remainder.length && divisor !== undefined, "another unknown wire");
    return divisor;
  }

  /** A sum of constraints whose value is below P in absolute value, so that it is 0 as an integer. */
  #equation(parts: readonly Scaled[]): Map<string, bigint> {
    const sum = new Map<string, bigint>();
    const name = (x: number, y: number) => (x < y ? `${x} ${y}` : `${y} ${x}`);
    for (const { by, scale } of parts) {
      const [a, b, c] = this.#circuit.expand(by);
      need(a.size * b.size <= MAX_PRODUCTS, "a constraint with too many products");
      for (const [x, j] of a) for (const [y, k] of b) put(sum, name(x, y), scale * j * k);
      for (const [z, k] of c) put(sum, name(CONSTANT, z), -scale * k);
    }
    for (const [monomial, total] of sum) sum.set(monomial, centred(total));
    const [low, high] = this.#reach(sum);
    need(low > -P && high < P, "an equation that may exceed the prime");
    return sum;
  }

  /** Bounds of a sum of products of two wires. */
  #reach(sum: ReadonlyMap<string, bigint>): Bounds {
    let [low, high] = [0n, 0n];
    for (const [monomial, k] of sum) {
      if (k === 0n) continue;
      const [x, y] = monomial.split(" ").map((wire) => this.#at(Number(wire))) as [Bounds, Bounds];
      const corners = x.flatMap((one) => y.map((other) => k * one * other)).sort(inOrder);
      [low, high] = [low + (corners[0] as bigint), high + (corners[3] as bigint)];
    }
    return [low, high];
  }

  /** Removes a wire from a sum that is 0: its factor exceeds all other terms, so the wire is 0. */
  #vanish(total: Map<string, bigint>, wire: number): void {
    const own = `${CONSTANT} ${wire}`;
    const factor = absolute(total.get(own) ?? 0n);
    total.delete(own);
    const [low, high] = this.#reach(total);
    need(wire !== CONSTANT && low > -factor && high < factor, "a wire that may not be 0");
    need(
      ![...total].some(([monomial, k]) => k !== 0n && monomial.split(" ").includes(`${wire}`)),
      "a wire in a product",
    );
  }

  /** Different values of the wires give different sums: each weight exceeds the greatest difference of the smaller ones. */
  #assertNumber(digits: readonly { readonly wire: number; readonly weight: bigint }[]): void {
    const sorted = [...digits].sort((x, y) => inOrder(absolute(x.weight), absolute(y.weight)));
    let reach = 0n;
    for (const { wire, weight } of sorted) {
      const [low, high] = this.#at(wire);
      need(absolute(weight) > reach, "two numbers with the same value");
      reach += absolute(weight) * (high - low);
    }
  }

  /** In each choice of the leaves that the constraints permit, the remainder less the divisor is at most -1. */
  #less(divisor: Terms): void {
    const { remainder, leaves } = this.#step;
    need(leaves.length <= MAX_LEAVES && new Set(leaves).size === leaves.length, "too many choices");
    for (const leaf of leaves)
      need(leaf !== CONSTANT && (this.#circuit.isBit(leaf) || this.#flags.has(leaf)), "not a bit");
    // Remainder less divisor, from which each comparison takes its part.
    const rest = new Map([...divisor].map(([wire, k]) => [wire, -k] as const));
    for (const { wire, weight } of remainder) put(rest, wire, weight);
    const inDifference = new Set(rest.keys());
    inDifference.delete(CONSTANT);
    const comparisons = remainder.map((limb) => this.#comparison(limb, inDifference));
    for (const [i, { difference }] of comparisons.entries())
      for (const [wire, k] of difference) put(rest, wire, -k * (remainder[i] as { weight: bigint }).weight);
    const constant = rest.get(CONSTANT) ?? 0n;
    rest.delete(CONSTANT);
    need(
      [...rest.values()].every((k) => k === 0n),
      "the comparisons are not about remainder and divisor",
    );
    const equations = this.#equationsOfLeaves();
    const valued = new Set([...leaves, ...equations.definitions.map(({ wire }) => wire)]);
    const bounds = comparisons.map(({ others, offset, flag }, i) => ({
      weight: (remainder[i] as { weight: bigint }).weight,
      fixed: [...others].filter(([wire]) => valued.has(wire)),
      least: this.#spread([...others].filter(([wire]) => !valued.has(wire)))[0],
      offset,
      flag,
    }));
    const size = bounds.reduce((sum, { fixed }) => sum + fixed.length + 1, equations.size);
    need(size * 2 ** leaves.length <= MAX_EVALUATED, "too many terms in all choices");
    for (let choice = 0; choice < 2 ** leaves.length; choice++) {
      const values = new Map(leaves.map((leaf, i) => [leaf, BigInt(Math.floor(choice / 2 ** i) % 2)]));
      if (!permits(equations, values)) continue;
      let most = constant;
      for (const { weight, fixed, least, offset, flag } of bounds) {
        // The difference is the negative of all other terms.
        const bound = -fixed.reduce((sum, [wire, k]) => sum + k * (values.get(wire) as bigint), least);
        const isEqual = flag !== undefined && values.get(flag) === 1n;
        most += weight * (isEqual && offset < bound ? offset : bound);
      }
      need(most <= -1n, "the remainder may be the divisor or more");
    }
  }

  /** The constraints between the leaves: those that compute a wire, and the others. */
  #equationsOfLeaves(): Equations {
    const { leaves, definitions, checks } = this.#step;
    const valued = new Set(leaves);
    let size = 0;
    const sidesOf = (by: number): Sides => {
      const sides = this.#circuit.expand(by);
      size += sides.reduce((sum, side) => sum + side.size, 1);
      need(size <= MAX_EVALUATED, "too many terms in all choices");
      return sides;
    };
    return {
      definitions: definitions.map(({ by, wire }) => {
        need(wire !== CONSTANT && !valued.has(wire), "a value of a wire that has one");
        valued.add(wire);
        const linear = this.#circuit.linear(by);
        const [a, b, c] = linear === undefined ? sidesOf(by) : ([new Map(), new Map(), linear] as const);
        if (linear !== undefined) size += linear.size + 1;
        // c less its own term is a b, or 0.
        const rest = new Map([...c].filter(([key]) => key !== wire));
        return { wire, sides: [a, b, rest] as const, scale: inverse(c.get(wire) ?? 0n) };
      }),
      checks: checks.map(sidesOf),
      size,
    };
  }

  /** A limb's difference and the other terms of its comparison; their sum is 0 in integers. */
  #comparison({ wire, terms, equal }: LongDivision["remainder"][number], inDifference: ReadonlySet<number>) {
    const total = this.#sum(terms);
    const unit = inverse(total.get(wire) ?? 0n);
    const [difference, others] = [new Map<number, bigint>(), new Map<number, bigint>()];
    for (const [key, k] of total) (inDifference.has(key) ? difference : others).set(key, centred(k * unit));
    const [low, high] = this.#spread(difference);
    const [least, most] = this.#spread(others);
    need(low + least > -P && high + most < P, "a comparison that may exceed the prime");
    if (equal === undefined) return { difference, others, offset: 0n, flag: undefined };
    const [a, b, c] = this.#circuit.expand(equal.by);
    const isFlag = (side: Terms) => side.size === 1 && side.has(equal.flag);
    need(c.size === 0 && (isFlag(a) || isFlag(b)), "not a product of the flag that is 0");
    // The other factor is 0 if the flag is 1.
    const factor = this.#sum(equal.terms, isFlag(a) ? b : a);
    const lead = inverse(factor.get(wire) ?? 0n);
    const offset = centred(-(factor.get(CONSTANT) ?? 0n) * lead);
    factor.delete(CONSTANT);
    need(
      factor.size === difference.size && [...factor].every(([key, k]) => centred(k * lead) === difference.get(key)),
      "the flag is not about the limb's difference",
    );
    need(
      [low, high].every((end) => absolute(end) + absolute(offset) < P),
      "a difference above P",
    );
    return { difference, others, offset, flag: equal.flag };
  }
}

/** The value of a sum. Throws if a wire has none. */
function sumAt(terms: Terms, values: ReadonlyMap<number, bigint>): bigint {
  let sum = 0n;
  for (const [wire, k] of terms) {
    const value = wire === CONSTANT ? 1n : values.get(wire);
    need(value !== undefined, `wire ${wire} has no value`);
    sum += k * value;
  }
  return sum;
}

/** Whether the constraints between the leaves hold for their values. Adds the integers of the wires that they compute. */
function permits({ definitions, checks }: Equations, values: Map<number, bigint>): boolean {
  const residual = ([a, b, c]: Sides) => sumAt(a, values) * sumAt(b, values) - sumAt(c, values);
  for (const { wire, sides, scale } of definitions) values.set(wire, centred(residual(sides) * scale));
  return checks.every((sides) => mod(residual(sides)) === 0n);
}

/** Whether two forms are multiples of each other and not 0. */
function isMultiple(x: Terms, y: Terms): boolean {
  const [lead] = y.keys();
  if (lead === undefined || x.size !== y.size) return false;
  const [j, k] = [y.get(lead) as bigint, x.get(lead) ?? 0n];
  return k !== 0n && [...x].every(([key, value]) => mod(j * value - k * (y.get(key) ?? 0n)) === 0n);
}

/** Throws unless the step determines its quotient and its remainder. */
export const replayLongDivision = (step: LongDivision, circuit: Circuit): void =>
  new LongDivisionReplay(step, circuit).run();
