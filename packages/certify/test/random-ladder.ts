import type { Random } from "@sotto/test-kit/random";
import type { Side } from "../src/r1cs.ts";
import type { Circuit, Constraint } from "./random-circuit.ts";
import { invert, modulo, multipleOf, type Pair, type SmallCurve, toMontgomery } from "./small-curve.ts";

type Sum = Readonly<Record<number, number>>;
type Point = readonly [u: Sum, v: Sum];

const plus = (...parts: readonly (readonly [scale: number, sum: Sum])[]): Sum => {
  const total: Record<number, number> = {};
  for (const [scale, sum] of parts)
    for (const [wire, value] of Object.entries(sum)) total[Number(wire)] = (total[Number(wire)] ?? 0) + scale * value;
  return total;
};
const ONE: Sum = { 0: 1 };

/** A circuit whose wires are numbered in the order in which brute force finds their values. */
class Builder {
  readonly constraints: [Sum, Sum, Sum][] = [];
  readonly #curve: SmallCurve;
  readonly inputs: number[] = [];
  wires = 1;

  constructor(curve: SmallCurve) {
    this.#curve = curve;
  }

  wire(): Sum {
    return { [this.wires++]: 1 };
  }

  given(): Sum {
    this.inputs.push(this.wires);
    return this.wire();
  }

  product(a: Sum, b: Sum): Sum {
    const c = this.wire();
    this.constraints.push([a, b, c]);
    return c;
  }

  quotient(above: Sum, below: Sum): Sum {
    const result = this.wire();
    this.constraints.push([result, below, above]);
    return result;
  }

  /** An input on the curve. */
  input(): Point {
    const u = this.given();
    const square = this.product(u, u);
    const cubic = this.product(u, plus([1, square], [this.#curve.A, u], [1, ONE]));
    const v = this.given();
    this.constraints.push([v, v, cubic]);
    return [u, v];
  }

  double([u, v]: Point): Point {
    const slope = this.quotient(plus([3, this.product(u, u)], [2 * this.#curve.A, u], [1, ONE]), plus([2, v]));
    return this.#third(slope, [u, v], u);
  }

  add(window: Point, sum: Point): Point {
    const slope = this.quotient(plus([1, window[1]], [-1, sum[1]]), plus([1, window[0]], [-1, sum[0]]));
    return this.#third(slope, sum, window[0]);
  }

  /** 2 sum + (u, sign). */
  step(sum: Point, u: Sum, sign: Sum): Point {
    const slope = this.quotient(plus([1, sum[1]], [-1, sign]), plus([1, sum[0]], [-1, u]));
    const middle = this.#thirdU(slope, sum[0], u);
    const second = this.wire();
    const run = plus([1, sum[0]], [-1, middle]);
    this.constraints.push([plus([1, second], [1, slope]), run, plus([2, sum[1]])]);
    return this.#third(second, sum, middle);
  }

  edwards([u, v]: Point): Point {
    return [this.quotient(u, v), this.quotient(plus([1, u], [-1, ONE]), plus([1, u], [1, ONE]))];
  }

  sumOfEdwards([x1, y1]: Point, [x2, y2]: Point): Point {
    const { A } = this.#curve;
    const [beta, gamma] = [this.product(x1, y2), this.product(y1, x2)];
    const delta = this.product(plus([-A - 2, x1], [1, y1]), plus([1, x2], [1, y2]));
    const tau = this.product(beta, gamma);
    return [
      this.quotient(plus([1, beta], [1, gamma]), plus([1, ONE], [A - 2, tau])),
      this.quotient(plus([1, delta], [A + 2, beta], [-1, gamma]), plus([1, ONE], [2 - A, tau])),
    ];
  }

  bit(): Sum {
    const bit = this.given();
    this.constraints.push([bit, plus([1, bit], [-1, ONE]), {}]);
    return bit;
  }

  /** The first or the second point: U = A B and V = D (U + shift). */
  choice(bit: Sum, points: readonly [Pair, Pair], factors: Pair, shift: number): Point {
    const { p } = this.#curve;
    const line = ([first, second]: Pair) => plus([first, ONE], [second - first, bit]);
    const divided = (values: readonly [number, number], by: Pair): Pair => [
      values[0] * invert(by[0], p),
      values[1] * invert(by[1], p),
    ];
    const us = [points[0][0], points[1][0]] as const;
    const u = this.product(line(factors), line(divided(us, factors)));
    const offsets = [us[0] + shift, us[1] + shift] as const;
    const v = this.product(line(divided([points[0][1], points[1][1]], offsets)), plus([1, u], [shift, ONE]));
    return [u, v];
  }

  #thirdU(slope: Sum, first: Sum, second: Sum): Sum {
    const u = this.wire();
    this.constraints.push([slope, slope, plus([1, u], [this.#curve.A, ONE], [1, first], [1, second])]);
    return u;
  }

  #third(slope: Sum, [u, v]: Point, other: Sum): Point {
    const third = this.#thirdU(slope, u, other);
    const result = this.wire();
    this.constraints.push([slope, plus([1, u], [-1, third]), plus([1, result], [1, v])]);
    return [third, result];
  }
}

/** A point of a table that two bits choose, as circomlib's Mux2 computes it. */
function tablePoint(builder: Builder, points: readonly Pair[]): Point {
  const [first, second] = [builder.bit(), builder.bit()];
  const both = builder.product(first, second);
  const coordinate = (i: 0 | 1): Sum => {
    const [a, b, c, d] = points.map((point) => point[i]) as [number, number, number, number];
    return plus([a, ONE], [b - a, first], [c - a, second], [d - c - b + a, both]);
  };
  return [builder.product(coordinate(0), ONE), builder.product(coordinate(1), ONE)];
}

/** A constant point and points of tables, added by Montgomery's formulas. Some are no multiples of the base, or sums of equal ones. */
function tables(builder: Builder, random: Random, curve: SmallCurve): void {
  const at = (k: number) => toMontgomery(multipleOf(curve, k % curve.order === 0 ? 1 : k), curve);
  const [startU, startV] = at(1 + random.below(2 * curve.order));
  let sum: Point = [plus([startU, ONE]), plus([startV, ONE])];
  for (let i = 1 + random.below(2); i > 0; i--) {
    const [step, offset] = [1 + random.below(2), random.below(4)];
    const points = [1, 2, 3, 4].map((k) => at(step * k + offset));
    if (random.below(5) === 0) points[random.below(4)] = [random.below(curve.p), random.below(curve.p)];
    const table = tablePoint(builder, points);
    sum = random.below(2) === 0 ? builder.add(table, sum) : builder.add(sum, table);
  }
  if (random.below(2) === 0) builder.edwards(sum);
}

/** A ladder from an Edwards point, whose x is not 0 or is replaced if it is. Some of its steps take another one of its points. */
function montgomeryLadder(builder: Builder, random: Random, curve: SmallCurve): void {
  const [a, b] = [builder.given(), builder.given()];
  const [squareA, squareB] = [builder.product(a, a), builder.product(b, b)];
  const { A } = curve;
  builder.constraints.push([plus([A - 2, squareA]), squareB, plus([A + 2, squareA], [1, squareB], [-1, ONE])]);
  const inverse = builder.wire();
  let base: Point = [a, b];
  if (random.below(2) === 0) builder.constraints.push([a, inverse, ONE]);
  else {
    const flag = builder.wire();
    builder.constraints.push([a, inverse, plus([1, ONE], [-1, flag])], [a, flag, {}]);
    const [x, y] = multipleOf(curve, 1 + random.below(curve.order - 1));
    const replaced = (to: number, from: Sum): Sum => {
      const result = builder.wire();
      builder.constraints.push([plus([to, ONE], [-1, from]), flag, plus([1, result], [-1, from])]);
      return result;
    };
    base = [replaced(x, a), replaced(y, b)];
  }
  const u = builder.quotient(plus([1, ONE], [1, base[1]]), plus([1, ONE], [-1, base[1]]));
  const points: Point[] = [[u, builder.quotient(u, base[0])]];
  const other = (point: Point): Point =>
    random.below(6) === 0 ? (points[random.below(points.length)] as Point) : point;
  const first = points[0] as Point;
  let [power, sum] = [first, first];
  for (let i = 1 + random.below(3); i > 0; i--) {
    power = builder.double(other(power));
    const both = builder.add(other(sum), other(power));
    const [zero, one, bit] = [other(sum), other(both), builder.bit()];
    const chosen = (coordinate: 0 | 1): Sum => {
      const result = builder.wire();
      const from = zero[coordinate];
      builder.constraints.push([plus([1, one[coordinate]], [-1, from]), bit, plus([1, result], [-1, from])]);
      return result;
    };
    sum = [chosen(0), chosen(1)];
    points.push(power, both, sum);
  }
  const any = () => points[random.below(points.length)] as Point;
  for (let i = random.below(3); i > 0; i--) points.push(builder.add(any(), any()));
  if (random.below(2) === 0) builder.edwards(random.below(2) === 0 ? (points.at(-1) as Point) : any());
}

/** Doublings of an input, and steps from the result with random signs. Or the Edwards form of the input. */
function multiples(builder: Builder, random: Random, curve: SmallCurve): void {
  let key = builder.input();
  if (random.below(4) === 0) {
    builder.sumOfEdwards(builder.edwards(key), constantPoint(random, curve));
    return;
  }
  for (let i = random.below(4) === 0 ? 2 : 3; i > 0; i--) key = builder.double(key);
  let sum = random.below(4) === 0 ? key : builder.double(key);
  const square = builder.product(key[1], key[1]);
  for (let i = random.below(4); i > 0; i--) {
    const sign = builder.wire();
    builder.constraints.push([sign, sign, square]);
    sum = builder.step(sum, key[0], sign);
  }
  if (random.below(2) === 0) builder.sumOfEdwards(builder.edwards(sum), constantPoint(random, curve));
}

function constantPoint(random: Random, curve: SmallCurve): Point {
  const [x, y] = multipleOf(curve, 1 + random.below(curve.order - 1));
  return [plus([x, ONE]), plus([y, ONE])];
}

/** A constant point, to which points are added that bits choose. */
function windows(builder: Builder, random: Random, curve: SmallCurve): void {
  const power = () => (random.below(2) === 0 ? 1 : -1) * 2 ** random.below(3);
  const half = (curve.order + 1) / 2;
  /** k base / 2, or another point if that has no coordinates. */
  const at = (k: number) => toMontgomery(multipleOf(curve, half * (k % curve.order === 0 ? 1 : k)), curve);
  const unit = () => 1 + random.below(curve.p - 1);
  const [startU, startV] = at(random.below(2) === 0 ? power() : 8);
  let sum: Point = [plus([startU, ONE]), plus([startV, ONE])];
  for (let i = 1 + random.below(3); i > 0; i--) {
    const [centre, part] = [random.below(3) === 0 ? 0 : power(), power()];
    const points = [at(centre - part), at(centre + part)] as const;
    const first = unit();
    const factors = [first, 1 + (first % (curve.p - 1))] as const;
    const isUsable = (shift: number) => points.every(([u]) => modulo(u + shift, curve.p) !== 0);
    let shift = unit();
    while (!isUsable(shift)) shift = unit();
    sum = builder.add(builder.choice(builder.bit(), points, factors, shift), sum);
  }
  if (random.below(2) === 0) builder.edwards(sum);
}

/** The sum of two inputs by Edwards' formulas. */
function sumOfTwo(builder: Builder, random: Random, curve: SmallCurve): void {
  const [a, b] = [builder.given(), builder.given()];
  const [squareA, squareB] = [builder.product(a, a), builder.product(b, b)];
  const { A } = curve;
  builder.constraints.push([plus([A - 2, squareA]), squareB, plus([A + 2, squareA], [1, squareB], [-1, ONE])]);
  const other: Point = random.below(2) === 0 ? [a, b] : constantPoint(random, curve);
  builder.sumOfEdwards(builder.sumOfEdwards([a, b], other), [a, b]);
}

const KINDS = [
  ...[multiples, multiples, multiples, windows, windows],
  ...[sumOfTwo, tables, tables, montgomeryLadder, montgomeryLadder],
];

/** A circuit and its inputs. */
export interface Ladder extends Pick<Circuit, "wires" | "constraints"> {
  readonly inputs: readonly number[];
}

/** A circuit that a lemma is about. Half of the circuits lack a constraint or have another coefficient. */
export function randomLadder(random: Random, curve: SmallCurve): Ladder {
  const builder = new Builder(curve);
  (KINDS[random.below(KINDS.length)] as (typeof KINDS)[number])(builder, random, curve);
  const change = random.below(4);
  const index = random.below(builder.constraints.length);
  const side = random.below(3);
  const sides = builder.constraints[index] as [Sum, Sum, Sum];
  const wires = Object.keys(sides[side] as Sum);
  const wire = wires[random.below(Math.max(1, wires.length))];
  if (change === 0) builder.constraints.splice(index, 1);
  else if (change === 1 && wire !== undefined) sides[side] = { ...sides[side], [wire]: 1 + random.below(curve.p - 1) };
  const written = (sum: Sum): Side =>
    Object.fromEntries(
      Object.entries(sum)
        .map(([key, value]) => [key, modulo(value, curve.p)] as const)
        .filter(([, value]) => value !== 0)
        .map(([key, value]) => [key, BigInt(value)]),
    );
  const constraints = builder.constraints.map((all): Constraint => all.map(written) as unknown as Constraint);
  return { inputs: builder.inputs, wires: builder.wires, constraints };
}
