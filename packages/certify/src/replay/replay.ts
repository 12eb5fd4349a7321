// A second checker of certificates. It shares no code with the first one: it reads the r1cs with a reader of its own,
// takes the list of steps as data, and checks each step at random points or with plain sums of terms. Curve points come
// from @noble/curves. It throws an Error that names the first step it cannot follow.
import { randomFillSync } from "node:crypto";
import type { CertificateFile } from "./certificate.ts";
import { replayComparison } from "./compare.ts";
import {
  A,
  BASE8,
  EDWARDS_A,
  EDWARDS_D,
  hasMultipleOfOrder,
  multiply,
  ORDER,
  onEdwards,
  toMontgomery,
} from "./curve.ts";
import { type Circuit, replayDivision } from "./division.ts";
import { centred, inverse, mod, P, power } from "./field.ts";
import { LadderReplay } from "./ladder.ts";
import { replayLongDivision } from "./long-division.ts";
import { need } from "./need.ts";
import { checkNonsquare } from "./nonsquare.ts";
import { type R1cs, sidesOf } from "./r1cs.ts";
import { isSame, sum } from "./values.ts";

type Fact = CertificateFile["facts"][number];
type Determination = CertificateFile["steps"][number];
type Substitution = CertificateFile["substitutions"][number];
interface Form {
  readonly constant: bigint;
  readonly wires: readonly number[];
  readonly coefficients: readonly bigint[];
}
interface Product {
  readonly by: number;
  readonly left: Form;
  readonly right: Form;
  readonly result: Form;
}
type Terms = Map<number, bigint>;
type Range = readonly [low: bigint, high: bigint];

/** A point with the intervals of its multiples. `unit` undefined: no interval. */
interface PointFact {
  u: Form;
  v: Form;
  scale: number | undefined;
  ranges: Map<string, Range>;
  doublings: number;
}

const CONSTANT = 0;
/** Bytes of a random element: its distance from uniform is below 2^-128. */
const ELEMENT_BYTES = 48;
const pool = Buffer.alloc(1024 * ELEMENT_BYTES);
let taken = pool.length;
function random(): bigint {
  if (taken === pool.length) {
    randomFillSync(pool);
    taken = 0;
  }
  const bytes = pool.subarray(taken, taken + ELEMENT_BYTES);
  taken += ELEMENT_BYTES;
  return mod(BigInt(`0x${bytes.toString("hex")}`));
}
const ONE: Form = { constant: 1n, wires: [], coefficients: [] };
const wireForm = (wire: number): Form => ({ constant: 0n, wires: [wire], coefficients: [1n] });

/** The scaled sum of forms, as a function of a point: forms are compared by their values. */
class Points {
  /** Values of all wires at random points that satisfy every substitution. */
  readonly values: bigint[][];
  readonly #sides: readonly Sides[];
  constructor(sides: readonly Sides[], valuesOf: () => bigint[]) {
    this.#sides = sides;
    this.values = [valuesOf(), valuesOf(), valuesOf()];
  }

  at(form: Form): bigint[] {
    return this.values.map((values) =>
      mod(
        form.wires.reduce(
          (sum, wire, i) => sum + (form.coefficients[i] as bigint) * (values[wire] as bigint),
          form.constant,
        ),
      ),
    );
  }

  residual(constraint: number): bigint[] {
    const [a, b, c] = this.#sides[constraint] as Sides;
    return this.values.map((values) => {
      const [x, y, z] = [a, b, c].map((side) =>
        side.reduce((sum, [wire, value]) => sum + value * (values[wire] as bigint), 0n),
      ) as [bigint, bigint, bigint];
      return mod(x * y - z);
    });
  }

  /** Whether two polynomials, given by their values, are multiples of each other and not 0. */
  static proportional(x: readonly bigint[], y: readonly bigint[]): boolean {
    if (x.every((value) => value === 0n) || y.every((value) => value === 0n)) return false;
    return x.every((value, i) => mod(value * (y[0] as bigint) - (x[0] as bigint) * (y[i] as bigint)) === 0n);
  }

  /** left * right = result follows from the constraint `by`. */
  product({ by, left, right, result }: Product): void {
    const [x, y, z] = [left, right, result].map((form) => this.at(form)) as [bigint[], bigint[], bigint[]];
    const difference = x.map((value, i) => mod(value * (y[i] as bigint) - (z[i] as bigint)));
    if (by < 0)
      need(
        difference.every((value) => value === 0n),
        "a product that is no identity",
      );
    else need(Points.proportional(difference, this.residual(by)), `constraint ${by} does not give the product`);
  }
}

const HALF = multiply(BASE8, (ORDER + 1n) / 2n);
const multiples = new Map<bigint, readonly [bigint, bigint]>();
/** k Base8/2 in Montgomery form. */
function halfMultiple(k: bigint): readonly [bigint, bigint] {
  const rest = ((k % ORDER) + ORDER) % ORDER;
  need(rest !== 0n, "the identity has no coordinates");
  let point = multiples.get(rest);
  if (point === undefined) {
    point = toMontgomery(multiply(HALF, rest));
    multiples.set(rest, point);
  }
  return point;
}

class Replay {
  readonly #r1cs: R1cs;
  readonly #sides: readonly Sides[];
  readonly #sub = new Map<number, { root: number; scale: bigint; offset: bigint }>();
  readonly #points: Points;
  readonly #facts: readonly Fact[];
  readonly #booleans = new Set<number>();
  /** Wires that are w or -w, with the values of w^2. */
  readonly #signs = new Map<number, readonly bigint[]>();
  readonly #known = new Map<number, PointFact>();
  readonly #edwards = new Map<number, readonly [Form, Form]>();
  /** Forms that are not 0, by the fact that shows it. */
  readonly #nonzero = new Map<number, Form[]>();
  readonly #ladders: LadderReplay;

  constructor(r1cs: R1cs, substitutions: readonly Substitution[], facts: readonly Fact[]) {
    this.#r1cs = r1cs;
    this.#sides = sidesOfAll(r1cs);
    for (const step of substitutions) this.#substitute(step);
    this.#points = new Points(this.#sides, () => this.#randomPoint());
    this.#ladders = new LadderReplay({
      at: (form) => this.#points.at(form),
      product: (product) => this.#points.product(product),
      expand: (constraint) => this.#expand(constraint),
      isBit: (wire) => this.#booleans.has(wire),
      edwards: (fact) => this.#edwardsAt(fact),
      isNonzero: (fact, values) =>
        (this.#nonzero.get(fact) ?? []).some((form) => Points.proportional(values, this.#points.at(form))),
    });
    this.#facts = facts;
    for (const [index, fact] of facts.entries())
      this.#step(`fact ${index} (${fact.rule})`, () => this.#fact(index, fact));
  }

  #step(name: string, check: () => void): void {
    try {
      check();
    } catch (error) {
      throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
    }
  }

  // -------------------------------------------------------------------------------------------------- substitutions --

  /** scale * root + offset of a wire; the root is CONSTANT for constants. */
  resolve(wire: number): { root: number; scale: bigint; offset: bigint } {
    let [at, scale, offset] = [wire, 1n, 0n];
    for (let next = this.#sub.get(at); next !== undefined; next = this.#sub.get(at)) {
      offset = mod(offset + scale * next.offset);
      scale = mod(scale * next.scale);
      at = next.root;
    }
    return at === 0 ? { root: CONSTANT, scale: 0n, offset: mod(offset + scale) } : { root: at, scale, offset };
  }

  /** One side over roots; the constant is under CONSTANT. */
  #expand(constraint: number): [Terms, Terms, Terms] {
    return (this.#sides[constraint] as Sides).map((side) => {
      const terms: Terms = new Map();
      const add = (key: number, value: bigint) => terms.set(key, mod((terms.get(key) ?? 0n) + value));
      for (const [wire, value] of side) {
        const { root, scale, offset } = this.resolve(wire);
        add(CONSTANT, value * offset);
        if (root !== CONSTANT) add(root, value * scale);
      }
      for (const [key, value] of terms) if (value === 0n) terms.delete(key);
      return terms;
    }) as [Terms, Terms, Terms];
  }

  /** What a division may ask about the circuit. */
  #circuit(known: ReadonlySet<number>): Circuit {
    return {
      expand: (constraint) => this.#expand(constraint),
      linear: (constraint) => this.#linear(this.#expand(constraint)),
      isBit: (wire) => this.#booleans.has(wire),
      isKnown: (wire) => known.has(wire),
    };
  }

  /** A constraint as terms that add up to 0, if it is linear. */
  #linear([a, b, c]: readonly [Terms, Terms, Terms]): Terms | undefined {
    const isConstant = (terms: Terms) => [...terms.keys()].every((key) => key === CONSTANT);
    const [scale, other] = isConstant(a) ? [a.get(CONSTANT) ?? 0n, b] : isConstant(b) ? [b.get(CONSTANT) ?? 0n, a] : [];
    if (scale === undefined || other === undefined) return undefined;
    const total: Terms = new Map();
    for (const [key, value] of other) total.set(key, mod(scale * value));
    for (const [key, value] of c) total.set(key, mod((total.get(key) ?? 0n) - value));
    for (const [key, value] of total) if (value === 0n) total.delete(key);
    return total;
  }

  #substitute({ constraint, wire, root, scale, offset }: Substitution): void {
    this.#step(`substitution of wire ${wire}`, () => {
      need(wire > 0 && root < wire, "a wire is replaced by a later one");
      need(!this.#sub.has(wire) && !this.#sub.has(root), "a wire is replaced twice");
      const total = this.#linear(this.#expand(constraint));
      need(total !== undefined, `constraint ${constraint} is not linear`);
      const k = total.get(wire);
      need(k !== undefined, `constraint ${constraint} does not contain the wire`);
      // k (wire - scale root - offset)
      const expected: Terms = new Map([[wire, k]]);
      if (root !== 0 && scale !== 0n) expected.set(root, mod(-k * scale));
      if (offset !== 0n) expected.set(CONSTANT, mod(-k * offset));
      need(root !== 0 ? scale !== 0n : true, "a wire is a constant, but not said to be one");
      need(
        total.size === expected.size && [...expected].every(([key, value]) => total.get(key) === value),
        "another equation",
      );
      this.#sub.set(wire, root === 0 ? { root: 0, scale: offset, offset: 0n } : { root, scale, offset });
    });
  }

  #randomPoint(): bigint[] {
    const values: bigint[] = [1n];
    // A wire's substitute has a lower number.
    for (let wire = 1; wire < this.#r1cs.wires; wire++) {
      const substitute = this.#sub.get(wire);
      values[wire] =
        substitute === undefined
          ? random()
          : mod((values[substitute.root] as bigint) * substitute.scale + substitute.offset);
    }
    return values;
  }

  // ---------------------------------------------------------------------------------------------------------- facts --

  #shows(index: number, ...forms: readonly Form[]): void {
    this.#nonzero.set(index, [...forms]);
  }

  #point(index: number): PointFact {
    const point = this.#known.get(index);
    need(point !== undefined, `fact ${index} is not a point`);
    return point;
  }

  /** Whether two forms are equal at every point. */
  #equals(form: Form, values: readonly bigint[], what: string): void {
    need(isSame(this.#points.at(form), values), `${what} is another form`);
  }

  #fact(index: number, fact: Fact): void {
    const points = this.#points;
    const at = (form: Form) => points.at(form);
    const one = at(ONE);
    switch (fact.rule) {
      case "boolean": {
        const [a, b, c] = this.#expand(fact.by);
        const keys = new Set([a, b, c].flatMap((side) => [...side.keys()]));
        keys.delete(CONSTANT);
        need(
          keys.size === 1 && keys.has(fact.wire) && a.has(fact.wire) && b.has(fact.wire),
          "not quadratic in the wire",
        );
        for (const value of [0n, 1n]) {
          const [x, y, z] = [a, b, c].map((side) => (side.get(CONSTANT) ?? 0n) + (side.get(fact.wire) ?? 0n) * value);
          need(mod((x as bigint) * (y as bigint) - (z as bigint)) === 0n, `${value} is not a root`);
        }
        this.#booleans.add(fact.wire);
        return;
      }
      case "inverse": {
        const [left, right] = fact.forms as readonly [Form, Form];
        const [, , c] = this.#expand(fact.by);
        const value = c.get(CONSTANT) ?? 0n;
        need(value !== 0n && c.size === 1, "the product is not a nonzero constant");
        points.product({ by: fact.by, left, right, result: { ...ONE, constant: value } });
        this.#shows(index, left, right);
        return;
      }
      case "curve": {
        const { u, v, square, cubic, root } = fact;
        for (const product of [square, cubic, root]) points.product(product);
        for (const form of [square.left, square.right, cubic.left]) this.#equals(form, at(u), "u");
        this.#equals(cubic.right, sum([1n, at(square.result)], [A, at(u)], [1n, one]), "u^2 + A u + 1");
        for (const form of [root.left, root.right]) this.#equals(form, at(v), "v");
        this.#equals(root.result, at(cubic.result), "v^2");
        this.#known.set(index, { u, v, scale: undefined, ranges: new Map(), doublings: 0 });
        return;
      }
      case "double": {
        const point = this.#point(fact.point);
        const [u, v] = [at(point.u), at(point.v)];
        need(point.scale === undefined, "a scaled point");
        points.product(fact.square);
        for (const form of [fact.square.left, fact.square.right]) this.#equals(form, u, "u");
        points.product(fact.slope);
        this.#equals(fact.slope.right, sum([2n, v]), "2 v");
        this.#equals(fact.slope.result, sum([3n, at(fact.square.result)], [2n * A, u], [1n, one]), "the tangent");
        if (fact.result === undefined) {
          need(fact.form !== undefined, "no form");
          this.#equals(fact.form, v, "v");
          this.#shows(index, fact.form);
          return;
        }
        const { first, second, result, unit } = fact;
        need(first !== undefined && second !== undefined, "an incomplete doubling");
        const slope = at(fact.slope.left);
        this.#equals(first.left, slope, "the slope");
        this.#equals(first.right, slope, "the slope");
        points.product(first);
        this.#equals(result.u, sum([1n, at(first.result)], [-A, one], [-2n, u]), "u of the double");
        points.product(second);
        this.#equals(second.left, slope, "the slope");
        this.#equals(second.right, sum([1n, u], [-1n, at(result.u)]), "the run");
        this.#equals(result.v, sum([1n, at(second.result)], [-1n, v]), "v of the double");
        const ranges = new Map<string, Range>();
        for (const [name, [low, high]] of point.ranges) ranges.set(name, [2n * low, 2n * high]);
        const doublings = point.doublings + 1;
        if (unit !== undefined) {
          need(doublings >= 3, "a unit that is not 8 times a point");
          ranges.set(`${index}`, [1n, 1n]);
        }
        need(result.scale === undefined, "a scaled double");
        this.#known.set(index, { ...result, ranges, doublings });
        return;
      }
      case "odd": {
        const point = this.#point(fact.point);
        need(point.ranges.size > 0, "the order is not known to be odd");
        this.#equals(fact.form, at(point.v), "v");
        this.#shows(index, fact.form);
        return;
      }
      case "scale": {
        const point = this.#point(fact.point);
        need(point.ranges.size > 0 && point.scale === undefined, "w may be 0");
        points.product(fact.square);
        for (const form of [fact.square.left, fact.square.right]) this.#equals(form, at(point.v), "w");
        for (const cube of fact.cubes) {
          points.product(cube);
          this.#equals(cube.left, at(fact.square.result), "w^2");
          this.#equals(cube.right, at(point.v), "w");
        }
        return;
      }
      case "sign": {
        const scale = this.#scale(fact.scale);
        points.product({
          by: fact.by,
          left: wireForm(fact.wire),
          right: wireForm(fact.wire),
          result: scale.square.result,
        });
        this.#signs.set(fact.wire, at(scale.square.result));
        return;
      }
      case "step": {
        const [point, unit] = [this.#point(fact.sum), this.#point(fact.unit)];
        const range = point.ranges.get(`${fact.unit}`);
        need(range !== undefined && point.scale === undefined, "not a multiple of this unit");
        const [low, high] = range;
        need(!hasMultipleOfOrder(low - 1n, high + 1n), "the sum may be 0, 1 or -1 times the unit");
        need(!hasMultipleOfOrder(2n * low - 1n, 2n * high + 1n), "the result may be the identity");
        need(this.#isSquareOf(fact.sign, unit.v), "a sign of another v");
        points.product(fact.slope);
        const [divisor, second] = fact.forms;
        this.#equals(divisor, sum([1n, at(point.u)], [-1n, at(unit.u)]), "the difference of the u");
        this.#equals(fact.slope.right, at(divisor), "the divisor");
        const term = sum([1n, at(point.v)], [-1n, at(fact.slope.result)]);
        const sign = at(wireForm(fact.sign));
        need(isSame(term, sign) || isSame(term, sum([-1n, sign])), "the term is not a sign");
        points.product(fact.first);
        for (const form of [fact.first.left, fact.first.right]) this.#equals(form, at(fact.slope.left), "the slope");
        const middle = sum([1n, at(fact.first.result)], [-A, one], [-1n, at(point.u)], [-1n, at(unit.u)]);
        this.#equals(second, sum([1n, at(point.u)], [-1n, middle]), "the second divisor");
        this.#shows(index, divisor, second);
        return;
      }
      case "stepped": {
        const step = this.#facts[fact.step];
        need(step?.rule === "step" && fact.step < index, "not a step");
        const point = this.#point(step.sum);
        const [, second] = step.forms;
        points.product(fact.line);
        this.#equals(fact.line.right, at(second), "the second divisor");
        this.#equals(fact.line.result, sum([2n, at(point.v)]), "2 v");
        const other = sum([1n, at(fact.line.left)], [-1n, at(step.slope.left)]);
        points.product(fact.third);
        for (const form of [fact.third.left, fact.third.right, fact.last.left])
          this.#equals(form, other, "the second slope");
        const middle = sum([1n, at(point.u)], [-1n, at(second)]);
        this.#equals(
          fact.result.u,
          sum([1n, at(fact.third.result)], [-A, one], [-1n, middle], [-1n, at(point.u)]),
          "u",
        );
        points.product(fact.last);
        this.#equals(fact.last.right, sum([1n, at(point.u)], [-1n, at(fact.result.u)]), "the run");
        this.#equals(fact.result.v, sum([1n, at(fact.last.result)], [-1n, at(point.v)]), "v");
        const [low, high] = point.ranges.get(`${step.unit}`) as Range;
        need(fact.result.scale === undefined, "a scaled result");
        const ranges = new Map([[`${step.unit}`, [2n * low - 1n, 2n * high + 1n] as const]]);
        this.#known.set(index, { ...fact.result, ranges, doublings: 0 });
        return;
      }
      case "window":
        this.#window(index, fact);
        return;
      case "start":
        this.#start(index, fact);
        return;
      case "add": {
        const [a, b] = [this.#point(fact.sum), this.#point(fact.window)];
        need(a.scale === b.scale, "points of two scales");
        need(this.#sumRanges(a, b).size > 0, "the points may be equal or opposite");
        this.#equals(fact.form, sum([1n, at(b.u)], [-1n, at(a.u)]), "the difference of the U");
        points.product(fact.line);
        this.#equals(fact.line.right, at(fact.form), "the divisor");
        this.#equals(fact.line.result, sum([1n, at(b.v)], [-1n, at(a.v)]), "the difference of the V");
        this.#shows(index, fact.form);
        return;
      }
      case "added": {
        const add = this.#facts[fact.add];
        need(add?.rule === "add" && fact.add < index, "not an addition");
        const [a, b] = [this.#point(add.sum), this.#point(add.window)];
        const slope = at(add.line.left);
        for (const product of [fact.first, fact.second]) points.product(product);
        for (const form of [fact.first.left, fact.first.right, fact.second.left])
          this.#equals(form, slope, "the slope");
        const square = a.scale === undefined ? one : at(this.#scale(a.scale).square.result);
        this.#equals(
          fact.result.u,
          sum([1n, at(fact.first.result)], [-A, square], [-1n, at(a.u)], [-1n, at(b.u)]),
          "U",
        );
        this.#equals(fact.second.right, sum([1n, at(a.u)], [-1n, at(fact.result.u)]), "the run");
        this.#equals(fact.result.v, sum([1n, at(fact.second.result)], [-1n, at(a.v)]), "V");
        need(fact.result.scale === a.scale, "another scale");
        this.#known.set(index, { ...fact.result, ranges: this.#sumRanges(a, b), doublings: 0 });
        return;
      }
      case "rootless": {
        const { square, form } = fact;
        points.product(square);
        this.#equals(square.right, at(square.left), "the root");
        // result = k form + n
        const [result, values] = [at(square.result), at(form)];
        const [x, y] = [
          mod((result[0] as bigint) - (result[1] as bigint)),
          (values[0] as bigint) - (values[1] as bigint),
        ];
        const k = mod(x * inverse(y));
        const n = mod((result[0] as bigint) - k * (values[0] as bigint));
        this.#equals(square.result, sum([k, values], [n, one]), "the form and a number");
        need(power(n, (P - 1n) / 2n) === P - 1n, "the number is a square");
        this.#shows(index, form);
        return;
      }
      case "compare":
        replayComparison(
          fact,
          (constraint) => this.#expand(constraint),
          (wire) => this.#booleans.has(wire),
        );
        return;
      case "minus_one": {
        const point = this.#point(fact.point);
        need(point.scale === undefined, "a scaled point");
        this.#equals(fact.form, sum([1n, at(point.u)], [1n, one]), "u + 1");
        this.#shows(index, fact.form);
        return;
      }
      case "edwards": {
        const point = this.#point(fact.point);
        need(point.scale === undefined && point.ranges.size > 0, "v may be 0");
        for (const product of [fact.x, fact.y]) points.product(product);
        this.#equals(fact.x.right, at(point.v), "v");
        this.#equals(fact.x.result, at(point.u), "u");
        this.#equals(fact.y.right, sum([1n, at(point.u)], [1n, one]), "u + 1");
        this.#equals(fact.y.result, sum([1n, at(point.u)], [-1n, one]), "u - 1");
        this.#edwards.set(index, [fact.x.left, fact.y.left]);
        return;
      }
      case "baby_check": {
        for (const product of [fact.x, fact.y]) {
          points.product(product);
          this.#equals(product.right, at(product.left), "a square's root");
        }
        const [xx, yy] = [at(fact.x.result), at(fact.y.result)];
        const equation = xx.map((x, i) =>
          mod(EDWARDS_A * x + (yy[i] as bigint) - 1n - EDWARDS_D * x * (yy[i] as bigint)),
        );
        need(Points.proportional(equation, points.residual(fact.by)), "not the equation of the curve");
        this.#edwards.set(index, [fact.x.left, fact.y.left]);
        return;
      }
      case "complete": {
        const [x1, y1] = this.#edwardsAt(fact.first);
        const [x2, y2] = fact.second < 0 ? this.#constantPoint(fact.constant) : this.#edwardsAt(fact.second);
        for (const product of [fact.beta, fact.gamma, fact.tau]) points.product(product);
        this.#equals(fact.beta.left, x1, "x1");
        this.#equals(fact.beta.right, y2, "y2");
        this.#equals(fact.gamma.left, y1, "y1");
        this.#equals(fact.gamma.right, x2, "x2");
        this.#equals(fact.tau.left, at(fact.beta.result), "beta");
        this.#equals(fact.tau.right, at(fact.gamma.result), "gamma");
        const tau = at(fact.tau.result);
        this.#equals(fact.forms[0], sum([1n, one], [EDWARDS_D, tau]), "1 + d tau");
        this.#equals(fact.forms[1], sum([1n, one], [-EDWARDS_D, tau]), "1 - d tau");
        this.#shows(index, ...fact.forms);
        return;
      }
      case "completed": {
        const base = this.#facts[fact.complete];
        need(base?.rule === "complete" && fact.complete < index, "not an addition");
        const [x1, y1] = this.#edwardsAt(base.first);
        const [x2, y2] = base.second < 0 ? this.#constantPoint(base.constant) : this.#edwardsAt(base.second);
        for (const product of [fact.delta, fact.x, fact.y]) points.product(product);
        this.#equals(fact.delta.left, sum([-EDWARDS_A, x1], [1n, y1]), "y1 - a x1");
        this.#equals(fact.delta.right, sum([1n, x2], [1n, y2]), "x2 + y2");
        const [beta, gamma] = [at(base.beta.result), at(base.gamma.result)];
        this.#equals(fact.x.right, at(base.forms[0]), "1 + d tau");
        this.#equals(fact.x.result, sum([1n, beta], [1n, gamma]), "the numerator of x");
        this.#equals(fact.y.right, at(base.forms[1]), "1 - d tau");
        this.#equals(
          fact.y.result,
          sum([1n, at(fact.delta.result)], [EDWARDS_A, beta], [-1n, gamma]),
          "the numerator of y",
        );
        this.#edwards.set(index, [fact.x.left, fact.y.left]);
        return;
      }
      case "nonsquare":
        checkNonsquare(fact, (constraint) => this.#expand(constraint), points.values);
        this.#shows(index, fact.form);
        return;
      case "table":
      case "lift":
      case "twice":
      case "sum":
      case "choice":
      case "lower":
      case "replace": {
        const { edwards, nonzero } = this.#ladders.check(index, fact);
        if (edwards !== undefined) this.#edwards.set(index, edwards);
        this.#shows(index, ...nonzero);
        return;
      }
    }
  }

  #scale(index: number): Fact & { rule: "scale" } {
    const fact = this.#facts[index];
    need(fact?.rule === "scale", `fact ${index} is not a scale`);
    return fact;
  }

  /** Whether the square that shows a sign is the square of v. */
  #isSquareOf(sign: number, v: Form): boolean {
    const square = this.#signs.get(sign);
    return this.#facts.some((fact) => {
      if (fact.rule !== "scale" || square === undefined) return false;
      return (
        isSame(this.#points.at(fact.square.result), square) &&
        isSame(this.#points.at(fact.square.left), this.#points.at(v))
      );
    });
  }

  #edwardsAt(index: number): readonly [bigint[], bigint[]] {
    const forms = this.#edwards.get(index);
    need(forms !== undefined, `fact ${index} is not an Edwards point`);
    return [this.#points.at(forms[0]), this.#points.at(forms[1])];
  }

  #constantPoint(forms: readonly [Form, Form] | undefined): readonly [bigint[], bigint[]] {
    need(forms !== undefined, "no second point");
    const [x, y] = forms.map(({ constant }) => constant) as [bigint, bigint];
    need(
      forms.every(({ wires }) => wires.length === 0),
      "not a constant",
    );
    need(onEdwards({ x, y }), "the constant is not on the curve");
    return [this.#points.at(forms[0]), this.#points.at(forms[1])];
  }

  #sumRanges(a: PointFact, b: PointFact): Map<string, Range> {
    const found = new Map<string, Range>();
    for (const [unit, [low, high]] of a.ranges) {
      const other = b.ranges.get(unit);
      if (other === undefined) continue;
      const total: Range = [low + other[0], high + other[1]];
      if (!hasMultipleOfOrder(...total) && !hasMultipleOfOrder(low - other[1], high - other[0])) found.set(unit, total);
    }
    return found;
  }

  /** Intervals of a point that signs choose, after comparing every choice with the multiple it should be. */
  #chosen(
    pointAt: (choice: readonly boolean[]) => readonly [bigint, bigint],
    { wires, centre, parts }: { wires: readonly number[]; centre: bigint; parts: readonly bigint[] },
  ): Map<string, Range> {
    need(wires.length === parts.length && wires.length <= 6, "other signs than parts");
    for (let choices = 0; choices < 2 ** wires.length; choices++) {
      const choice = wires.map((_, i) => ((choices >> i) & 1) === 1);
      const k = parts.reduce((total, part, i) => total + (choice[i] ? part : -part), centre);
      const [u, v] = pointAt(choice);
      const expected = halfMultiple(k);
      need(u === expected[0] && v === expected[1], `choice ${choices} is not ${k} times Base8/2`);
    }
    const width = parts.reduce((total, part) => total + (part < 0n ? -part : part), 0n);
    const ranges = new Map<string, Range>([["Base8/2", [centre - width, centre + width]]]);
    if ([centre, ...parts].every((value) => value % 2n === 0n))
      ranges.set("Base8", [(centre - width) / 2n, (centre + width) / 2n]);
    return ranges;
  }

  /**
   * A window is recomputed from its two constraints, for each choice of signs: with w = 1 and bits as they are, or with w = 1
   * and signs +-1. In the second case the constraints must be homogeneous, so that other w give (w^2 U, w^3 V).
   */
  #window(index: number, fact: Fact & { rule: "window" }): void {
    const { by, other, uWire, vWire, scale } = fact;
    const square = scale === undefined ? undefined : this.#scale(scale).square.result;
    const weights = new Map<number, number>([[uWire, 2]]);
    for (const wire of fact.wires) {
      if (scale === undefined) need(this.#booleans.has(wire), "not a bit");
      else {
        const sign = this.#signs.get(wire);
        need(sign !== undefined && isSame(sign, this.#points.at(square as Form)), "a sign of another scale");
        weights.set(wire, 1);
      }
    }
    if (square !== undefined) {
      need(square.wires.length === 1 && square.constant === 0n, "w^2 is not a wire");
      weights.set(square.wires[0] as number, 2);
    }
    weights.set(vWire, 3);
    const solve = (constraint: number, target: number, values: ReadonlyMap<number, bigint>): bigint => {
      const [a, b, c] = this.#expand(constraint);
      need(!a.has(target) && !b.has(target) && c.has(target), "the result is not alone");
      const weightOf = (terms: Terms) =>
        new Set([...terms.keys()].map((key) => (key === CONSTANT ? 0 : weights.get(key))));
      if (scale !== undefined) {
        const [x, y, z] = [a, b, c].map(weightOf) as [Set<number>, Set<number>, Set<number>];
        need(
          [x, y, z].every((set) => set.size === 1) && Number([...x]) + Number([...y]) === Number([...z]),
          "not homogeneous",
        );
      }
      const value = (terms: Terms) =>
        [...terms].reduce((total, [key, k]) => {
          const known = key === CONSTANT ? 1n : values.get(key);
          need(known !== undefined || key === target, "an unknown wire in a window");
          return total + (key === target ? 0n : k * (known as bigint));
        }, 0n);
      return mod((value(a) * value(b) - value(c)) * inverse(c.get(target) as bigint));
    };
    const pointAt = (choice: readonly boolean[]): readonly [bigint, bigint] => {
      const values = new Map<number, bigint>();
      for (const [i, wire] of fact.wires.entries())
        values.set(wire, choice[i] ? 1n : scale === undefined ? 0n : P - 1n);
      if (square !== undefined) values.set(square.wires[0] as number, inverse(square.coefficients[0] as bigint));
      const u = solve(by, uWire, values);
      values.set(uWire, u);
      return [u, solve(other, vWire, values)];
    };
    const ranges = this.#chosen(pointAt, fact);
    this.#known.set(index, { u: wireForm(uWire), v: wireForm(vWire), scale, ranges, doublings: 0 });
  }

  #start(index: number, fact: Fact & { rule: "start" }): void {
    const { u, v, scale } = fact.point;
    const pointAt = (choice: readonly boolean[]): readonly [bigint, bigint] => {
      if (scale === undefined) {
        need(
          fact.wires.every((wire) => this.#booleans.has(wire)),
          "not a bit",
        );
        const value = (form: Form) =>
          mod(
            form.wires.reduce((total, wire, i) => {
              need(fact.wires.includes(wire), "an unknown wire in a start");
              return total + (choice[fact.wires.indexOf(wire)] ? (form.coefficients[i] as bigint) : 0n);
            }, form.constant),
          );
        return [value(u), value(v)];
      }
      const { square, cubes } = this.#scale(scale);
      const factor = (form: Form, base: Form) => {
        const [x, y] = [this.#points.at(form), this.#points.at(base)];
        return Points.proportional(x, y) ? mod((x[0] as bigint) * inverse(y[0] as bigint)) : undefined;
      };
      const first = factor(u, square.result);
      const second = cubes.map(({ result }) => factor(v, result)).find((value) => value !== undefined);
      need(first !== undefined && second !== undefined, "not a multiple of w^2 and w^3");
      return [first, second];
    };
    this.#known.set(index, { ...fact.point, ranges: this.#chosen(pointAt, fact), doublings: 0 });
  }

  // -------------------------------------------------------------------------------------------------- determination --

  /** The wires that stay undetermined, from the wires that are given. */
  determine(given: readonly number[], steps: readonly Determination[]): number[] {
    const known = new Set<number>([CONSTANT]);
    for (const wire of given) known.add(this.resolve(wire).root);
    for (const [index, step] of steps.entries())
      this.#step(`step ${index} (${step.rule})`, () => this.#determine(known, step));
    return Array.from({ length: this.#r1cs.wires }, (_, wire) => wire).filter(
      (wire) => !known.has(this.resolve(wire).root),
    );
  }

  /** Bits as digits of a number that is shown to be below P. */
  #needNumber(index: number, coefficients: Terms): void {
    const fact = this.#facts[index];
    need(fact?.rule === "compare" && fact.out === undefined, `fact ${index} is not a bound`);
    const digits = new Map(fact.wires.map((wire, i) => [wire, 2n ** BigInt(fact.exponents[i] as number)]));
    const [first] = coefficients.keys();
    const unit = coefficients.get(first as number) as bigint;
    const base = digits.get(first as number) ?? 0n;
    // All coefficients are the same multiple of the digits' weights.
    for (const [wire, k] of coefficients)
      need(digits.has(wire) && mod(k * base - unit * (digits.get(wire) as bigint)) === 0n, "other digits");
  }

  /** The wire's bits are at most (P - 1) / 2, or whether they are is determined. Then -w has other bits than w. */
  #needHalf({ wire, sum, below, half }: Determination & { rule: "root" }, known: ReadonlySet<number>): void {
    const total = this.#linear(this.#expand(sum));
    const unit = total?.get(wire);
    need(total !== undefined && unit !== undefined && !total.has(CONSTANT), "not a sum that is the wire");
    const scale = inverse(mod(-unit));
    const weights = new Map([...total].filter(([key]) => key !== wire).map(([bit, k]) => [bit, mod(k * scale)]));
    need(
      [...weights.keys()].every((bit) => this.#booleans.has(bit)),
      "a digit that is not a bit",
    );
    const comparison = (index: number) => {
      const fact = this.#facts[index];
      need(fact?.rule === "compare", `fact ${index} is not a comparison`);
      need(
        fact.wires.length === weights.size &&
          fact.wires.every((bit, i) => weights.get(bit) === 2n ** BigInt(fact.exponents[i] as number)),
        "a comparison of another number",
      );
      return fact;
    };
    const middle = (P - 1n) / 2n;
    const limit = below === undefined ? undefined : comparison(below);
    need(limit?.out === undefined, "a bound that depends on a bit");
    const largest = limit?.bound ?? [...weights.values()].reduce((x, y) => x + y, 0n);
    if (half === undefined) {
      need(largest <= middle, "the number may be more than half the prime");
      return;
    }
    const result = comparison(half);
    need(largest < P && result.bound === middle, "not a comparison with half the prime");
    need(result.out !== undefined && known.has(result.out), "the result is not determined");
  }

  #determine(known: Set<number>, step: Determination): void {
    const unknownOf = (terms: Terms) => [...terms.keys()].filter((key) => !known.has(key));
    const onlyUnknown = (terms: Terms, wire: number) => unknownOf(terms).every((key) => key === wire);
    switch (step.rule) {
      case "linear": {
        const sides = this.#expand(step.by);
        const { wire } = step;
        const linear = this.#linear(sides);
        if (linear !== undefined) {
          // Terms of two sides may cancel, so only their sum counts.
          need(linear.has(wire) && onlyUnknown(linear, wire), "another unknown wire");
          known.add(wire);
          return;
        }
        need(
          sides.every((side) => onlyUnknown(side, wire)),
          "another unknown wire",
        );
        const [a, b, c] = sides.map((side) => side.get(wire) ?? 0n) as [bigint, bigint, bigint];
        need(a === 0n || b === 0n, "quadratic in the wire");
        if (step.nonzero < 0) need(a === 0n && b === 0n && c !== 0n, "the factor is not a nonzero constant");
        else {
          const values = this.#points.values.map((at) => {
            const value = (terms: Terms) =>
              [...terms].reduce((total, [key, k]) => total + k * (key === CONSTANT ? 1n : (at[key] as bigint)), 0n);
            return mod(a * value(sides[1]) + b * value(sides[0]) - c);
          });
          const forms = this.#nonzero.get(step.nonzero) ?? [];
          need(
            forms.some((form) => Points.proportional(values, this.#points.at(form))),
            "the factor is not shown nonzero",
          );
        }
        known.add(wire);
        return;
      }
      case "bits": {
        const total: Terms = new Map();
        for (const { by, scale } of [{ by: step.by, scale: 1n }, ...(step.more ?? [])]) {
          const [a, b, c] = this.#expand(by);
          const linear = this.#linear([a, b, c]);
          if (linear === undefined)
            need(unknownOf(a).length + unknownOf(b).length === 0, "an unknown wire in a factor");
          // A linear constraint is A B - C; of another one, only -C has unknown wires.
          for (const [key, k] of linear ?? c)
            total.set(key, mod((total.get(key) ?? 0n) + (linear === undefined ? -k : k) * scale));
        }
        for (const [key, k] of total) if (k === 0n) total.delete(key);
        const open = unknownOf(total);
        need(
          open.length === step.wires.length && open.every((wire) => step.wires.includes(wire)),
          "other unknown wires",
        );
        need(
          open.every((wire) => this.#booleans.has(wire)),
          "a wire that is not a bit",
        );
        if (step.below === undefined)
          need(distinctSums(open.map((wire) => total.get(wire) as bigint)), "two choices of bits have the same sum");
        else this.#needNumber(step.below, new Map(open.map((wire) => [wire, total.get(wire) as bigint])));
        for (const wire of open) known.add(wire);
        return;
      }
      case "one_hot": {
        const [a, b, c] = this.#expand(step.by);
        const total = this.#linear([a, b, c]) ?? c;
        if (total === c) need(unknownOf(a).length + unknownOf(b).length === 0, "an unknown wire in a factor");
        const open = unknownOf(total);
        need(
          open.length === step.wires.length && open.every((wire) => step.wires.includes(wire)),
          "other unknown wires",
        );
        const conditions = step.wires.map((wire, i) => {
          const [x, y, z] = this.#expand(step.flags[i] as number);
          need(z.size === 0, "not a product that is 0");
          const [flag, condition] = x.has(wire) ? [x, y] : [y, x];
          need(flag.size === 1 && flag.has(wire) && unknownOf(condition).length === 0, "not a flag");
          return condition;
        });
        // g_i - k g_j is a nonzero constant, so not both are 0.
        const [first] = conditions as [Terms];
        const [lead] = [...first.keys()].filter((key) => key !== CONSTANT);
        need(lead !== undefined, "a constant condition");
        const places = conditions.map((condition) => {
          const scale = inverse(condition.get(lead) ?? 0n);
          const normalized = new Map([...condition].map(([key, value]) => [key, mod(value * scale)]));
          const unit = inverse(first.get(lead) as bigint);
          const keys = new Set([...normalized.keys(), ...first.keys()]);
          keys.delete(CONSTANT);
          for (const key of keys) need(normalized.get(key) === mod((first.get(key) ?? 0n) * unit), "another condition");
          return normalized.get(CONSTANT) ?? 0n;
        });
        need(new Set(places).size === places.length, "two flags may be set at once");
        for (const wire of open) known.add(wire);
        return;
      }
      case "case": {
        const [a, b, c] = this.#expand(step.zero);
        const [x, y, z] = this.#expand(step.other);
        const { wire } = step;
        need(c.size === 0, "not a product that is 0");
        const [factor, other] = a.has(wire) ? [b, a] : [a, b];
        need(unknownOf(factor).length === 0 && other.has(wire) && onlyUnknown(other, wire), "other unknown wires");
        need(z.has(wire) && onlyUnknown(z, wire), "the other constraint has another unknown wire");
        const values = (terms: Terms) =>
          this.#points.values.map((at) =>
            mod([...terms].reduce((total, [key, k]) => total + k * (key === CONSTANT ? 1n : (at[key] as bigint)), 0n)),
          );
        need(
          [x, y].some((side) => Points.proportional(values(side), values(factor))),
          "the factors differ",
        );
        known.add(wire);
        return;
      }
      case "either": {
        const factors = step.by.map((by) => {
          const sides = this.#expand(by);
          need(
            sides.every((side) => onlyUnknown(side, step.wire)),
            "another unknown wire",
          );
          return factorOf(sides, step.wire);
        });
        need(neverBothZero(factors as [Terms, Terms]), "both factors may be 0");
        known.add(step.wire);
        return;
      }
      case "root": {
        const [a, b, c] = this.#expand(step.by);
        const isMultiple = (terms: Terms) => terms.size === 1 && terms.has(step.wire);
        need(isMultiple(a) && isMultiple(b) && unknownOf(c).length === 0, "not the square of the wire");
        this.#needHalf(step, known);
        known.add(step.wire);
        return;
      }
      case "division": {
        replayDivision(step, this.#circuit(known));
        known.add(step.quotient);
        known.add(step.remainder);
        return;
      }
      case "long_division": {
        replayLongDivision(step, this.#circuit(known));
        for (const { wire } of [...step.quotient, ...step.remainder]) known.add(wire);
        return;
      }
      case "system": {
        const rows = step.by.map((by) => {
          const [a, b, c] = this.#expand(by);
          const linear = this.#linear([a, b, c]);
          if (linear === undefined)
            need(unknownOf(a).length + unknownOf(b).length === 0, "an unknown wire in a factor");
          const total = linear ?? c;
          return new Map([...total].filter(([key]) => !known.has(key)));
        });
        const solved = reduce(rows);
        need(
          step.wires.every((wire) => solved.has(wire)),
          "the system does not determine the wire",
        );
        for (const wire of step.wires) known.add(wire);
        return;
      }
      case "sign": {
        need(this.#signs.has(step.wire), "not a sign");
        known.add(step.wire);
        return;
      }
    }
  }
}

/** Whether different bits give different sums: scaled so that one coefficient is 1, each exceeds all smaller ones. */
function distinctSums(coefficients: readonly bigint[]): boolean {
  // The largest of n sizes is at least 2^(n - 1).
  if (coefficients.length > 254) return false;
  return coefficients.some((unit) => {
    const scale = inverse(unit);
    const sizes = coefficients
      .map((value) => centred(value * scale))
      .map((value) => (value < 0n ? -value : value))
      .sort((x, y) => (x < y ? -1 : 1));
    const totals = sizes.map((_, i) => sizes.slice(0, i).reduce((total, size) => total + size, 0n));
    return sizes.every((size, i) => size > (totals[i] as bigint)) && sizes.reduce((x, y) => x + y, 0n) < P;
  });
}

/** What multiplies a wire that only one of A and B contains. */
function factorOf([a, b, c]: readonly [Terms, Terms, Terms], wire: number): Terms {
  const [inA, inB] = [a.get(wire) ?? 0n, b.get(wire) ?? 0n];
  need(inA === 0n || inB === 0n, "quadratic in the wire");
  const factor: Terms = new Map([[CONSTANT, -(c.get(wire) ?? 0n)]]);
  for (const [key, k] of inA === 0n ? a : b) factor.set(key, (factor.get(key) ?? 0n) + k * (inA === 0n ? inB : inA));
  return new Map([...factor].map(([key, k]) => [key, mod(k)]));
}

/** Whether a combination of two forms is a constant that is not 0. */
function neverBothZero([x, y]: readonly [Terms, Terms]): boolean {
  const lead = [...x].find(([key, k]) => key !== CONSTANT && k !== 0n)?.[0];
  if (lead === undefined) return (x.get(CONSTANT) ?? 0n) !== 0n;
  const [j, k] = [y.get(lead) ?? 0n, x.get(lead) as bigint];
  const rest = [...new Set([...x.keys(), ...y.keys()])].filter(
    (key) => mod(j * (x.get(key) ?? 0n) - k * (y.get(key) ?? 0n)) !== 0n,
  );
  return rest.length === 1 && rest[0] === CONSTANT;
}

/** The unknowns that homogeneous equations force to 0: Gauss-Jordan. */
function reduce(rows: Terms[]): Set<number> {
  const pivots = new Map<number, Terms>();
  for (const row of rows) {
    for (const [key, pivot] of pivots) subtract(row, pivot, key);
    const [lead] = row.keys();
    if (lead === undefined) continue;
    for (const pivot of pivots.values()) subtract(pivot, row, lead);
    pivots.set(lead, row);
  }
  return new Set([...pivots].filter(([, row]) => row.size === 1).map(([key]) => key));
}

function subtract(row: Terms, pivot: Terms, key: number): void {
  const value = row.get(key);
  if (value === undefined) return;
  const scale = mod(value * inverse(pivot.get(key) as bigint));
  for (const [column, k] of pivot) {
    const rest = mod((row.get(column) ?? 0n) - scale * k);
    if (rest === 0n) row.delete(column);
    else row.set(column, rest);
  }
}

type Sides = [a: Side, b: Side, c: Side];
type Side = readonly (readonly [wire: number, k: bigint])[];
type Values = (bigint | undefined)[];

/** An equation in unknown wires: the sum of its terms and rest[i] is 0 at point i. */
interface Row {
  terms: Terms;
  rest: [bigint, bigint];
}

const expanded = new WeakMap<R1cs, Sides[]>();

/** A, B and C of all constraints. */
function sidesOfAll(r1cs: R1cs): Sides[] {
  const all = expanded.get(r1cs) ?? Array.from({ length: r1cs.constraints }, (_, i) => sidesOf(r1cs, i));
  expanded.set(r1cs, all);
  return all;
}
const isOpen = (values: Values, side: Side) => side.some(([wire]) => values[wire] === undefined);
/** The value of a side without its open wires. */
function evaluate(values: Values, side: Side): bigint {
  let total = 0n;
  for (const [wire, k] of side) {
    const value = values[wire];
    if (value !== undefined) total += k * value;
  }
  return total % P;
}

/** A constraint as an equation, if one factor is known and has the same value at both points. */
function rowOf(sides: Sides, [first, second]: readonly [Values, Values]): Row | undefined {
  const at = [first, second].map((values) => sides.map((side) => evaluate(values, side)) as [bigint, bigint, bigint]);
  const [x, y] = at as [[bigint, bigint, bigint], [bigint, bigint, bigint]];
  const factor = ([0, 1] as const).find((side) => !isOpen(first, sides[side]) && x[side] === y[side]);
  if (factor === undefined) return undefined;
  const terms: Terms = new Map();
  const add = (side: Side, scale: bigint) => {
    for (const [wire, k] of side)
      if (first[wire] === undefined) terms.set(wire, mod((terms.get(wire) ?? 0n) + scale * k));
  };
  add(sides[1 - factor] as Side, x[factor]);
  add(sides[2], -1n);
  for (const [wire, k] of terms) if (k === 0n) terms.delete(wire);
  return { terms, rest: [mod(x[0] * x[1] - x[2]), mod(y[0] * y[1] - y[2])] };
}

/** Gives values to unknown wires so that the rows hold, as far as they can. A wire without an equation gets `fallback`. */
function solveRows(rows: readonly Row[], all: readonly [Values, Values], fallback: () => bigint): void {
  assign(echelon(rows), all, fallback);
}

/** Rows from the last to the first; each has a wire that no later one of them contains. */
function echelon(rows: readonly Row[]): [wire: number, row: Row][] {
  const order: [wire: number, row: Row][] = [];
  const pivots = new Map<number, Row>();
  for (const row of [...rows].sort((x, y) => x.terms.size - y.terms.size)) {
    for (let wire = [...row.terms.keys()].find((key) => pivots.has(key)); wire !== undefined; ) {
      const pivot = pivots.get(wire) as Row;
      const scale = mod((row.terms.get(wire) as bigint) * inverse(pivot.terms.get(wire) as bigint));
      for (const [key, k] of pivot.terms) {
        const rest = mod((row.terms.get(key) ?? 0n) - scale * k);
        if (rest === 0n) row.terms.delete(key);
        else row.terms.set(key, rest);
      }
      for (const i of [0, 1] as const) row.rest[i] = mod(row.rest[i] - scale * pivot.rest[i]);
      wire = [...row.terms.keys()].find((key) => pivots.has(key));
    }
    const [lead] = row.terms.keys();
    if (lead === undefined) continue;
    pivots.set(lead, row);
    order.push([lead, row]);
  }
  return order.reverse();
}

function assign(
  order: readonly (readonly [wire: number, row: Row])[],
  all: readonly [Values, Values],
  fallback: () => bigint,
): void {
  for (const [lead, { terms, rest }] of order) {
    const factor = inverse(terms.get(lead) as bigint);
    for (const wire of terms.keys())
      if (wire !== lead && all[0][wire] === undefined) for (const values of all) values[wire] = fallback();
    for (const i of [0, 1] as const) {
      const values = all[i];
      const total = [...terms].reduce(
        (sum, [wire, k]) => (wire === lead ? sum : sum + k * (values[wire] as bigint)),
        rest[i],
      );
      values[lead] = mod(-total * factor);
    }
  }
}

/** Removes the leading wires of the earlier rows from each row. */
function isolate(order: readonly (readonly [wire: number, row: Row])[]): [wire: number, row: Row][] {
  const leads = new Map<number, Row>();
  for (const [lead, row] of order) {
    const [terms, rest] = [new Map(row.terms), [...row.rest] as [bigint, bigint]];
    for (const [wire, k] of row.terms) {
      const other = leads.get(wire);
      if (other === undefined) continue;
      const scale = mod(k * inverse(other.terms.get(wire) as bigint));
      for (const [key, value] of other.terms) {
        const sum = mod((terms.get(key) ?? 0n) - scale * value);
        if (sum === 0n) terms.delete(key);
        else terms.set(key, sum);
      }
      for (const i of [0, 1] as const) rest[i] = mod(rest[i] - scale * other.rest[i]);
    }
    leads.set(lead, { terms, rest });
  }
  return [...leads];
}

/** The wires of a constraint without a value. */
function openWires(values: Values, sides: Sides): Set<number> {
  const open = new Set<number>();
  for (const side of sides) for (const [wire] of side) if (values[wire] === undefined) open.add(wire);
  return open;
}

/** Gives a value to each wire that is alone open in a constraint, and so on. @returns the constraints with open wires */
function assignSingles(sides: readonly Sides[], all: readonly [Values, Values]): Sides[] {
  const [values] = all;
  const users = new Map<number, Sides[]>();
  const count = new Map<Sides, number>();
  const ready: Sides[] = [];
  for (const constraint of sides) {
    const open = openWires(values, constraint);
    if (open.size === 0) continue;
    count.set(constraint, open.size);
    if (open.size === 1) ready.push(constraint);
    for (const wire of open) {
      const others = users.get(wire);
      if (others === undefined) users.set(wire, [constraint]);
      else others.push(constraint);
    }
  }
  for (let constraint = ready.pop(); constraint !== undefined; constraint = ready.pop()) {
    const row = count.get(constraint) === 1 ? rowOf(constraint, all) : undefined;
    const [wire] = row?.terms.keys() ?? [];
    if (row === undefined || wire === undefined) continue;
    solveRows([row], all, () => 0n);
    for (const user of users.get(wire) as Sides[]) {
      const rest = (count.get(user) as number) - 1;
      count.set(user, rest);
      if (rest === 1) ready.push(user);
    }
  }
  return sides.filter((constraint) => (count.get(constraint) ?? 0) > 0);
}

/** Extends values at two points to all wires, through constraints that are linear in the wires that are left. */
function spread(sides: readonly Sides[], wires: number, all: readonly [Values, Values]): void {
  const zero = () => 0n;
  const [values] = all;
  let left = sides;
  for (;;) {
    left = assignSingles(left, all);
    const rows = left
      .map((constraint) => rowOf(constraint, all))
      .filter((row) => row !== undefined && row.terms.size > 0) as Row[];
    if (rows.length === 0) break;
    // A value is chosen only if no wire has one: a chosen one may be another than a later constraint gives.
    const order = echelon(rows);
    const certain = isolate(order).filter(([, { terms }]) => terms.size === 1);
    assign(certain.length === 0 ? order.slice(0, 1) : certain, all, zero);
  }
  for (let wire = 0; wire < wires; wire++) if (values[wire] === undefined) for (const at of all) at[wire] = 0n;
}

/**
 * Whether every solution of the shipped system extends to one of the plain system: values at two random points, extended
 * through the constraints. Returns the constraints for which this is not shown. Throws an Error if the wires do not
 * correspond.
 */
export function replayBridge(shipped: R1cs, plain: R1cs): number[] {
  const [ourSides, theirSides] = [sidesOfAll(shipped), sidesOfAll(plain)];
  const empty = (wires: number): [Values, Values] => [
    [1n, ...new Array(wires - 1).fill(undefined)],
    [1n, ...new Array(wires - 1).fill(undefined)],
  ];
  const ours = empty(shipped.wires);
  // Constants come first: with them, further constraints are linear, and the source may give the constants in another order.
  assignSingles(ourSides, ours);
  const linear = ourSides.map((sides) => rowOf(sides, ours)).filter((row) => row !== undefined && row.terms.size > 0);
  solveRows(linear as Row[], ours, random);
  for (const values of ours) for (let wire = 1; wire < shipped.wires; wire++) values[wire] ??= random();
  const theirs = empty(plain.wires);
  const byLabel = new Map([...plain.wireLabels].map((label, wire) => [label, wire]));
  for (const [wire, label] of shipped.wireLabels.entries()) {
    const target = byLabel.get(label);
    need(
      target !== undefined && (wire === 0 || theirs[0][target] === undefined),
      `wire ${wire} is no signal of its own`,
    );
    for (const i of [0, 1] as const) theirs[i][target] = ours[i][wire];
  }
  spread(theirSides, plain.wires, theirs);
  const residuals = (all: readonly [Values, Values]) => (sides: Sides) =>
    all.map((values) => {
      const [a, b, c] = sides.map((side) => evaluate(values, side)) as [bigint, bigint, bigint];
      return mod(a * b - c);
    }) as [bigint, bigint];
  const known = new Set(ratios(ourSides.map(residuals(ours))));
  known.delete(undefined);
  const pairs = theirSides.map(residuals(theirs));
  return ratios(pairs).flatMap((ratio, i) => {
    const isZero = (pairs[i] as [bigint, bigint]).every((value) => value === 0n);
    return isZero || (ratio !== undefined && known.has(ratio)) ? [] : [i];
  });
}

/** first / second of each pair, with one inversion for all of them; undefined if one of the two is 0. */
function ratios(pairs: readonly (readonly [bigint, bigint])[]): (bigint | undefined)[] {
  const usable = [...pairs.keys()].filter((i) => !(pairs[i] as readonly [bigint, bigint]).includes(0n));
  const products = [1n];
  for (const i of usable) products.push(mod((products.at(-1) as bigint) * (pairs[i] as readonly [bigint, bigint])[1]));
  const found: (bigint | undefined)[] = new Array(pairs.length).fill(undefined);
  let inverted = inverse(products.at(-1) as bigint);
  for (const [place, i] of [...usable.entries()].reverse()) {
    const [first, second] = pairs[i] as readonly [bigint, bigint];
    found[i] = mod(first * mod(inverted * (products[place] as bigint)));
    inverted = mod(inverted * second);
  }
  return found;
}

/** The steps of a proof, as a certificate has them. */
export type Steps = Pick<CertificateFile, "substitutions" | "facts" | "steps">;

/**
 * Replays a proof about the plain system and returns the wires it leaves undetermined. Throws an Error at the first step
 * that does not follow.
 * @param given wires on which the two assignments agree
 */
export function replay(plain: R1cs, { substitutions, facts, steps }: Steps, given: readonly number[]): number[] {
  return new Replay(plain, substitutions, facts).determine(given, steps);
}
