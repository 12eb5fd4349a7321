// The second checker's replay of ladders by Montgomery's formulas. Points are known by the values of their forms at random
// points, and curve points come from @noble/curves.
import type { CertificateFile } from "./certificate.ts";
import { A, add, hasMultipleOfOrder, multiply, ORDER, onEdwards, type Point, toMontgomery } from "./curve.ts";
import { inverse, mod } from "./field.ts";
import { need } from "./need.ts";
import { isSame, sum, type Values } from "./values.ts";

type LadderRule = "table" | "lift" | "twice" | "sum" | "choice" | "lower" | "replace";
type LadderFact = Extract<CertificateFile["facts"][number], { rule: LadderRule }>;
type Table = Extract<LadderFact, { rule: "table" }>;
type Product = Extract<LadderFact, { rule: "sum" }>["line"];
type Form = Product["left"];
type Terms = ReadonlyMap<number, bigint>;

/** What the replay knows about the circuit. */
export interface LadderCircuit {
  readonly at: (form: Form) => Values;
  /** Throws unless the product follows from its constraint. */
  readonly product: (product: Product) => void;
  /** A constraint's sides; the constant is under 0. */
  readonly expand: (constraint: number) => readonly [Terms, Terms, Terms];
  readonly isBit: (wire: number) => boolean;
  /** The coordinates of an Edwards point. */
  readonly edwards: (fact: number) => readonly [x: Values, y: Values];
  /** Whether an earlier fact shows that a form with these values is not 0. */
  readonly isNonzero: (fact: number, values: Values) => boolean;
}

/** A ladder's point is k times a unit, for a k in one of the intervals, all multiples of 2^twos; 2^(twos + 1) divides none if `exact`. */
interface Count {
  /** A constant of prime order by its coordinates; or the fact about a point of any order but 1 and 2. */
  readonly unit: string | number;
  readonly intervals: readonly (readonly [low: bigint, high: bigint])[];
  readonly twos: number;
  readonly exact: boolean;
}

interface Located {
  readonly u: Values;
  readonly v: Values;
  readonly count: Count;
}

/** What a fact shows besides a point: an Edwards point, and forms that are not 0. */
export interface Shown {
  readonly edwards?: readonly [x: Form, y: Form];
  readonly nonzero: readonly Form[];
}

const MAX_BITS = 4;
const MAX_DEFINITIONS = 12;

/** The least interval with all numbers of some. */
const hullOf = (intervals: Count["intervals"]): Count["intervals"][number] => {
  const ends = intervals.flat().sort((a, b) => (a < b ? -1 : 1));
  return [ends[0] as bigint, ends.at(-1) as bigint];
};

/** Multiples of a constant point of prime order, in Montgomery form, each computed once. */
class Multiples {
  /** Powers of two times the point, as far as they were needed. */
  readonly #powers: Point[];
  readonly #known = new Map<bigint, readonly [u: bigint, v: bigint]>();
  constructor(base: Point) {
    this.#powers = [base];
  }

  times(k: bigint): readonly [u: bigint, v: bigint] {
    const rest = ((k % ORDER) + ORDER) % ORDER;
    const known = this.#known.get(rest) ?? toMontgomery(this.#compute(rest));
    this.#known.set(rest, known);
    return known;
  }

  /** @param k from 0 to ORDER - 1 */
  #compute(k: bigint): Point {
    const digits = k.toString(2).split("").reverse();
    let total: Point | undefined;
    for (const [i, digit] of digits.entries()) {
      const last = this.#powers.at(-1) as Point;
      if (i === this.#powers.length) this.#powers.push(add(last, last));
      const power = this.#powers[i] as Point;
      if (digit === "1") total = total === undefined ? power : add(total, power);
    }
    need(total !== undefined, "the identity has no coordinates");
    return total;
  }
}

/** The count of a number of units: how often 2 divides all of them, and each of them. */
function countOf(unit: string, multiples: readonly bigint[]): Count {
  const twos = multiples.map((k) => {
    need(k !== 0n, "the identity has no coordinates");
    return k.toString(2).length - k.toString(2).replace(/0+$/, "").length;
  });
  const least = Math.min(...twos);
  return { unit, intervals: multiples.map((k) => [k, k]), twos: least, exact: twos.every((one) => one === least) };
}

export class LadderReplay {
  readonly #circuit: LadderCircuit;
  readonly #points = new Map<number, Located>();
  readonly #units = new Map<string, Multiples>();
  readonly #one: Values;

  constructor(circuit: LadderCircuit) {
    this.#circuit = circuit;
    this.#one = circuit.at({ constant: 1n, wires: [], coefficients: [] });
  }

  #point(fact: number): Located {
    const point = this.#points.get(fact);
    need(point !== undefined, `fact ${fact} is not a point of a ladder`);
    return point;
  }

  /** left * right = result follows from a constraint, and the factors have these values. */
  #product(product: Product, left: Values | undefined, right: Values | undefined, what: string): Values {
    const { at, product: check } = this.#circuit;
    check(product);
    need(left === undefined || isSame(at(product.left), left), `${what}: another first factor`);
    need(right === undefined || isSame(at(product.right), right), `${what}: another second factor`);
    return at(product.result);
  }

  #know(index: number, { u, v, scale }: { u: Form; v: Form; scale: number | undefined }, point: Located): void {
    const { at } = this.#circuit;
    need(scale === undefined, "a scaled point");
    need(isSame(at(u), point.u) && isSame(at(v), point.v), "the result is another point");
    this.#points.set(index, point);
  }

  /** Checks a fact. Throws an Error if it does not follow. */
  check(index: number, fact: LadderFact): Shown {
    switch (fact.rule) {
      case "table": {
        this.#table(index, fact);
        return { nonzero: [] };
      }
      case "lift":
        return this.#lift(index, fact);
      case "twice":
        return this.#twice(index, fact);
      case "sum":
        return this.#add(index, fact);
      case "choice": {
        this.#choice(index, fact);
        return { nonzero: [] };
      }
      case "lower":
        return this.#lower(fact);
      case "replace":
        return this.#replace(fact);
    }
  }

  // -------------------------------------------------------------------------------------------------------- tables --

  #unit(x: bigint, y: bigint): Multiples {
    const key = `${x} ${y}`;
    const known = this.#units.get(key);
    if (known !== undefined) return known;
    need(onEdwards({ x, y }), "the unit is not on the curve");
    const neutral = multiply({ x, y }, ORDER);
    need(mod(x) !== 0n && neutral.x === 0n && neutral.y === 1n, "the unit has another order");
    const made = new Multiples({ x: mod(x), y: mod(y) });
    this.#units.set(key, made);
    return made;
  }

  #table(index: number, { bits, definitions, base, multiples, result }: Table): void {
    const { expand, isBit, at } = this.#circuit;
    need(bits.length <= MAX_BITS && new Set(bits).size === bits.length, "too many bits, or one of them twice");
    for (const bit of bits) need(isBit(bit), `wire ${bit} is not a bit`);
    need(definitions.length <= MAX_DEFINITIONS, "too many definitions");
    need(multiples.length === 2 ** bits.length, "another number of points than choices");
    const unit = this.#unit(...base);
    for (const [choice, k] of multiples.entries()) {
      const values = new Map<number, bigint>([
        [0, 1n],
        ...bits.map((bit, i) => [bit, BigInt((choice >> i) % 2)] as const),
      ]);
      const total = (terms: Iterable<readonly [wire: number, coefficient: bigint]>): bigint => {
        let sum = 0n;
        for (const [key, coefficient] of terms) {
          const value = values.get(key);
          need(value !== undefined, `wire ${key} has no value in a table`);
          sum += coefficient * value;
        }
        return sum;
      };
      for (const { by, wire } of definitions) {
        const [a, b, c] = expand(by);
        const own = c.get(wire);
        need(own !== undefined && wire !== 0 && !values.has(wire), `constraint ${by} defines no new wire`);
        const rest = new Map(c);
        rest.delete(wire);
        values.set(wire, mod((total(a) * total(b) - total(rest)) * inverse(own)));
      }
      const valueAt = ({ constant, wires, coefficients }: Form) =>
        mod(constant + total(wires.map((wire, i) => [wire, coefficients[i] as bigint] as const)));
      const [u, v] = unit.times(k);
      need(valueAt(result.u) === u && valueAt(result.v) === v, `choice ${choice} is another multiple`);
    }
    this.#know(index, result, { u: at(result.u), v: at(result.v), count: countOf(`${base.join(" ")}`, multiples) });
  }

  // -------------------------------------------------------------------------------------------------------- points --

  #lift(index: number, { edwards, nonzero, u, v, forms, result }: Extract<LadderFact, { rule: "lift" }>): Shown {
    const { at, isNonzero } = this.#circuit;
    const [x, y] = this.#circuit.edwards(edwards);
    need(nonzero < index && isNonzero(nonzero, x), "x may be 0");
    const below = sum([1n, this.#one], [-1n, y]);
    const above = this.#product(u, undefined, below, "u");
    need(isSame(above, sum([1n, this.#one], [1n, y])), "u is not (1 + y) / (1 - y)");
    need(isSame(this.#product(v, undefined, x, "v"), at(u.left)), "v is not u / x");
    need(isSame(at(forms[0]), below), "another divisor");
    const count: Count = { unit: index, intervals: [[1n, 1n]], twos: 0, exact: true };
    this.#know(index, result, { u: at(u.left), v: at(v.left), count });
    return { nonzero: forms };
  }

  #twice(index: number, fact: Extract<LadderFact, { rule: "twice" }>): Shown {
    const { point, square, slope, first, second, forms, result } = fact;
    const { at } = this.#circuit;
    const { u, v, count } = this.#point(point);
    const squared = this.#product(square, u, u, "the square of u");
    const tangent = sum([3n, squared], [2n * A, u], [1n, this.#one]);
    need(isSame(this.#product(slope, undefined, sum([2n, v]), "the slope"), tangent), "not the tangent");
    const s = at(slope.left);
    const u3 = sum([1n, this.#product(first, s, s, "u of the double")], [-A, this.#one], [-2n, u]);
    const v3 = sum([1n, this.#product(second, s, sum([1n, u], [-1n, u3]), "v of the double")], [-1n, v]);
    need(isSame(at(forms[0]), v), "another v");
    const intervals = count.intervals.map(([low, high]) => [2n * low, 2n * high] as const);
    this.#know(index, result, { u: u3, v: v3, count: { ...count, intervals, twos: count.twos + 1 } });
    return { nonzero: forms };
  }

  #add(index: number, fact: Extract<LadderFact, { rule: "sum" }>): Shown {
    const { first, second, line, square, last, forms, result } = fact;
    const { at } = this.#circuit;
    const [p, q] = [this.#point(first), this.#point(second)];
    const count = total(p.count, q.count);
    need(neverEqual(p.count, q.count, count), "the two points may be the same");
    const run = sum([1n, q.u], [-1n, p.u]);
    const rise = this.#product(line, undefined, run, "the slope");
    need(isSame(rise, sum([1n, q.v], [-1n, p.v])), "not the line through the two points");
    const s = at(line.left);
    const u = sum([1n, this.#product(square, s, s, "u of the sum")], [-A, this.#one], [-1n, p.u], [-1n, q.u]);
    const v = sum([1n, this.#product(last, s, sum([1n, p.u], [-1n, u]), "v of the sum")], [-1n, p.v]);
    need(isSame(at(forms[0]), run), "another divisor");
    this.#know(index, result, { u, v, count });
    return { nonzero: forms };
  }

  #choice(index: number, { bit, zero, one, u, v, result }: Extract<LadderFact, { rule: "choice" }>): void {
    need(this.#circuit.isBit(bit), `wire ${bit} is not a bit`);
    const b = this.#circuit.at({ constant: 0n, wires: [bit], coefficients: [1n] });
    const [p, q] = [this.#point(zero), this.#point(one)];
    need(p.count.unit === q.count.unit, "points of two units");
    const chosen = (product: Product, from: Values, to: Values) =>
      sum([1n, this.#product(product, sum([1n, to], [-1n, from]), b, "the choice")], [1n, from]);
    this.#know(index, result, {
      u: chosen(u, p.u, q.u),
      v: chosen(v, p.v, q.v),
      count: {
        unit: p.count.unit,
        // One interval for all: they would double with each choice.
        intervals: [hullOf([...p.count.intervals, ...q.count.intervals])],
        twos: Math.min(p.count.twos, q.count.twos),
        exact: p.count.exact && q.count.exact && p.count.twos === q.count.twos,
      },
    });
  }

  // ------------------------------------------------------------------------------------------------ Edwards points --

  #lower({ point, x, y, forms }: Extract<LadderFact, { rule: "lower" }>): Shown {
    const { at } = this.#circuit;
    const { u, v, count } = this.#point(point);
    const isOdd =
      typeof count.unit === "string" ||
      count.twos >= 3 ||
      (count.twos === 0 && count.exact && count.intervals.every(([low, high]) => !hasMultipleOfOrder(low, high)));
    need(isOdd, "v may be 0");
    const above = sum([1n, u], [1n, this.#one]);
    need(isSame(this.#product(x, undefined, v, "x"), u), "x is not u / v");
    const dividend = this.#product(y, undefined, above, "y");
    need(isSame(dividend, sum([1n, u], [-1n, this.#one])), "y is not (u - 1) / (u + 1)");
    for (const [i, values] of [v, above, at(x.left)].entries())
      need(isSame(at(forms[i] as Form), values), "another divisor");
    return { edwards: [x.left, y.left], nonzero: forms };
  }

  #replace(fact: Extract<LadderFact, { rule: "replace" }>): Shown {
    const { edwards, flag, empty, full, base, x, y, coordinates, forms } = fact;
    const { at } = this.#circuit;
    need(mod(base[0]) !== 0n, "the constant has x = 0");
    need(onEdwards({ x: base[0], y: base[1] }), "the constant is not on the curve");
    const points = this.#circuit.edwards(edwards);
    const z = at({ constant: 0n, wires: [flag], coefficients: [1n] });
    need(
      this.#product(empty, z, points[0], "x flag").every((value) => value === 0n),
      "x flag is not 0",
    );
    const rest = this.#product(full, undefined, points[0], "1 - flag");
    need(isSame(rest, sum([1n, this.#one], [-1n, z])), "x does not divide 1 - flag");
    for (const [i, product] of [x, y].entries()) {
      const from = points[i] as Values;
      const run = sum([base[i] as bigint, this.#one], [-1n, from]);
      const moved = sum([1n, this.#product(product, run, z, "the replacement")], [1n, from]);
      need(isSame(at(coordinates[i] as Form), moved), "another coordinate");
    }
    need(isSame(at(forms[0]), at(coordinates[0])), "another x");
    return { edwards: coordinates, nonzero: forms };
  }
}

/** The count of a sum. */
function total(p: Count, q: Count): Count {
  need(p.unit === q.unit, "points of two units");
  const [[a, b], [c, d]] = [hullOf(p.intervals), hullOf(q.intervals)];
  const [less, more] = p.twos < q.twos ? [p, q] : [q, p];
  return { unit: p.unit, intervals: [[a + c, b + d]], twos: less.twos, exact: less.exact && less.twos < more.twos };
}

/**
 * Whether the difference of two counts is never a multiple of the unit's order. It is divisible by 2 exactly as often as the
 * sum. A divisor of 8 ORDER other than 1 and 2 that 4 does not divide is ORDER or 2 ORDER.
 */
function neverEqual(p: Count, q: Count, { unit, twos, exact }: Count): boolean {
  if (typeof unit === "number" && !(exact && twos < 2)) return false;
  const power = 2n ** BigInt(twos);
  return p.intervals.every(([a, b]) =>
    q.intervals.every(([c, d]) => !hasMultipleOfOrder((a - d) / power, (b - c) / power)),
  );
}
