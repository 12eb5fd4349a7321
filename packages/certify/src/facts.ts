import { findComparisons } from "./compare.ts";
import { A, EDWARDS_A, EDWARDS_D, meetsOrder, multiplesOf, type Range } from "./curve.ts";
import { inverse, isSquare, mod, P } from "./field.ts";
import { combine, constant, equal, type Form, isConstant, isZero, keyOf, lineOf, ratio, scaled } from "./form.ts";
import { Ladders } from "./ladder.ts";
import { nonsquares } from "./nonsquare.ts";
import type { Normalized } from "./normalize.ts";
import type { Point, Product } from "./points.ts";
import type { Comparison, Fact } from "./steps.ts";

/** Maximum number of signs that choose one point. */
const MAX_SIGNS = 4;
const ONE = constant(1n);

/** A premise that a lemma looked for and did not find. */
export interface Miss {
  lemma: string;
  /** Forms at which the lemma stopped. */
  at: readonly Form[];
  missing: string;
}

/** A point with what is known about it. Range: k such that the point is k times a unit. */
interface Known extends Point {
  readonly index: number;
  readonly ranges: Map<string, Range>;
  /** The point is 2^doublings times a point of the curve. */
  readonly doublings: number;
}

/** A sum a + b whose slope is in the constraints; a is not known yet. */
interface Pending {
  readonly window: Known;
  readonly slope: Form;
  readonly by: number;
}

function append<Key, Item>(lists: Map<Key, Item[]>, key: Key, item: Item): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

/** Facts that hold in every satisfying assignment. `scan` finds them; each is appended to `steps` with its premises. */
export class Facts {
  readonly steps: Fact[] = [];
  readonly misses: Miss[] = [];
  readonly booleans = new Set<number>();
  /** The wires shown to be w or -w, by the square of w. */
  readonly signs = new Map<number, { square: string; of: Form; by: number }>();
  /** Comparisons of a number with a constant, by their facts. */
  readonly comparisons = new Map<number, Comparison>();
  readonly #system: Normalized;
  readonly #nonzero = new Map<string, number>();
  readonly #points = new Map<string, Known>();
  readonly #queue: Known[] = [];
  /** Squares X X = Z by the line of X, and by Z. */
  readonly #squares: Product[] = [];
  readonly #rootsOf = new Map<string, Product[]>();
  /** The squares whose result has one wire, by this wire. */
  readonly #squaresOf = new Map<number, Product[]>();
  readonly #pending = new Map<string, Pending[]>();
  readonly #edwards = new Map<string, number>();
  /** Pairs of Edwards points whose sum was looked for. */
  readonly #pairs = new Set<string>();
  /** Points P of order ORDER whose coordinates are wires: units of multiples. */
  readonly #units = new Map<string, Known>();

  constructor(system: Normalized) {
    this.#system = system;
  }

  /** The fact that shows that a form is not 0 in any satisfying assignment, -1 for a constant; undefined if none does. */
  nonzero(form: Form): number | undefined {
    if (isConstant(form)) return form.constant === 0n ? undefined : -1;
    return this.#nonzero.get(lineOf(form)) ?? this.#rootless(form);
  }

  /** A square less a number without a root is not 0. */
  #rootless(form: Form): number | undefined {
    const [wire] = form.wires;
    if (wire === undefined || form.wires.length > 1) return undefined;
    const root = mod(-form.constant * inverse(form.coefficients[0] as bigint));
    const square = this.#squaresOf.get(wire)?.find(({ result }) => {
      const number = at(result, root);
      return number !== 0n && !isSquare(number);
    });
    if (square === undefined) return undefined;
    const fact = this.#add({ rule: "rootless", square, form });
    this.#addNonzero(form, fact);
    return fact;
  }

  /** Finds the facts that need no curve. They hold over any prime field. */
  scanConstraints(): void {
    const { constraints } = this.#system.system;
    for (let i = 0; i < constraints; i++) this.#scanConstraint(i);
    for (const comparison of findComparisons(this.#system, this.booleans))
      this.comparisons.set(this.#add({ rule: "compare", ...comparison }), comparison);
  }

  scan(): void {
    this.scanConstraints();
    this.#scanWindows(undefined);
    this.#scanCurves();
    this.#scanBabyChecks();
    for (let point = this.#queue.shift(); point !== undefined; point = this.#queue.shift()) this.#extend(point);
    this.#scanEdwards();
    this.#scanLadders();
    this.scanDivisors();
  }

  #scanLadders(): void {
    const ladders = new Ladders({
      system: this.#system,
      booleans: this.booleans,
      squares: this.#squares,
      edwards: () => [...this.#edwards.values()].map((index) => [...edwardsForms(this.steps[index] as Fact), index]),
      addEdwards: (x, y, fact) => {
        if (!this.#edwards.has(edwardsKey(x, y))) this.#edwards.set(edwardsKey(x, y), fact);
      },
      products: (left, right) => this.#products(left, right),
      dividing: (divisor) => this.#dividing(divisor),
      quotients: (divisor, dividend) => this.#quotients(divisor, dividend),
      nonzero: (form) => this.nonzero(form),
      add: (fact) => this.#add(fact),
      addNonzero: (form, fact) => this.#addNonzero(form, fact),
    });
    for (let size = -1; size !== this.#edwards.size; ) {
      size = this.#edwards.size;
      ladders.scan();
      this.#scanEdwards();
    }
  }

  /** Finds divisors that are not 0 although no lemma about points says so. This holds over any prime field. */
  scanDivisors(): void {
    for (const fact of nonsquares(this.#system, (divisor) => this.nonzero(divisor) !== undefined))
      this.#addNonzero(fact.form, this.#add(fact));
  }

  #add(fact: Fact): number {
    return this.steps.push(fact) - 1;
  }

  #addNonzero(form: Form, fact: number): void {
    if (!isConstant(form) && !this.#nonzero.has(lineOf(form))) this.#nonzero.set(lineOf(form), fact);
  }

  #miss(lemma: string, at: readonly Form[], missing: string): void {
    this.misses.push({ lemma, at, missing });
  }

  // ------------------------------------------------------------------------------------------- single constraints --

  #scanConstraint(constraint: number): void {
    const sides = this.#system.sides(constraint);
    if (sides === undefined || sides.length === 1) return;
    const [a, b, c] = sides as [Form, Form, Form];
    const wires = new Set([...a.wires, ...b.wires, ...c.wires]);
    if (wires.size === 1) {
      const [wire] = wires as Set<number> & Iterable<number>;
      const holds = (value: bigint) => mod(at(a, value) * at(b, value) - at(c, value)) === 0n;
      // The polynomial has degree 2, so it has no third root.
      if (holds(0n) && holds(1n)) {
        this.booleans.add(wire as number);
        this.#add({ rule: "boolean", by: constraint, wire: wire as number });
      }
    }
    if (isConstant(c) && c.constant !== 0n) {
      const fact = this.#add({ rule: "inverse", by: constraint, forms: [a, b] });
      this.#addNonzero(a, fact);
      this.#addNonzero(b, fact);
    }
    const k = ratio(b, a);
    if (k === undefined) return;
    // a = lead root, so (k a) a = c is root root = c / (k lead^2).
    const lead = a.coefficients[0] as bigint;
    const root = scaled(a, inverse(lead));
    const product: Product = {
      by: constraint,
      left: root,
      right: root,
      result: scaled(c, inverse(mod(k * lead * lead))),
    };
    this.#squares.push(product);
    const [wire, ...others] = product.result.wires;
    if (wire !== undefined && others.length === 0) append(this.#squaresOf, wire, product);
    append(this.#rootsOf, keyOf(product.result), product);
  }

  /** All Z with a constraint X Y = Z. */
  #products(left: Form, right: Form): Product[] {
    if (isConstant(left) || isConstant(right)) {
      const product = isConstant(left) ? scaled(right, left.constant) : scaled(left, right.constant);
      return [{ by: -1, left, right, result: product }, ...this.#named(product, left, right)];
    }
    const found: Product[] = [];
    for (const by of this.#containing(left)) {
      const [a, b, c] = this.#system.sides(by) as [Form, Form, Form];
      for (const [x, y] of [
        [a, b],
        [b, a],
      ] as const) {
        const [j, k] = [ratio(x, left), ratio(y, right)];
        if (j === undefined || k === undefined) continue;
        found.push({ by, left, right, result: scaled(c, inverse(mod(j * k))) });
        break;
      }
    }
    return found;
  }

  /** Wires that a linear constraint equates with a form. */
  #named(form: Form, left: Form, right: Form): Product[] {
    const [wire] = form.wires;
    if (wire === undefined || form.wires.length < 2) return [];
    return this.#system.uses(wire).flatMap((by) => {
      const [sum] = this.#system.sides(by) as readonly [Form];
      if (!this.#system.isLinear(by) || sum.wires.length !== form.wires.length + 1) return [];
      const k = mod(coefficientOf(sum, wire) * inverse(coefficientOf(form, wire)));
      const rest = combine([1n, sum], [-k, form]);
      if (rest.wires.length !== 1 || rest.constant !== 0n) return [];
      return [{ by, left, right, result: scaled(rest, inverse(mod(-k))) }];
    });
  }

  /** All constraints L D = N with the factor D; `left` is L, `right` is D. */
  #dividing(divisor: Form): Product[] {
    if (isConstant(divisor)) return [];
    const found: Product[] = [];
    for (const by of this.#containing(divisor)) {
      const [a, b, c] = this.#system.sides(by) as [Form, Form, Form];
      for (const [x, y] of [
        [a, b],
        [b, a],
      ] as const) {
        const k = ratio(y, divisor);
        if (k !== undefined) found.push({ by, left: scaled(x, k), right: divisor, result: c });
      }
    }
    return found;
  }

  /** All L with a constraint L D = N. */
  #quotients(divisor: Form, dividend: Form): Product[] {
    return this.#dividing(divisor).flatMap((product) => {
      // L D = N up to a factor: (k L) D = k N.
      const k = ratio(dividend, product.result);
      return k === undefined ? [] : [{ ...product, left: scaled(product.left, k), result: dividend }];
    });
  }

  /** Quadratic constraints that contain the rarest wire of a form. */
  #containing(form: Form): number[] {
    let fewest: readonly number[] | undefined;
    for (const wire of form.wires) {
      const uses = this.#system.uses(wire);
      if (fewest === undefined || uses.length < fewest.length) fewest = uses;
    }
    return (fewest ?? []).filter((constraint) => !this.#system.isLinear(constraint));
  }

  // ------------------------------------------------------------------------------------------------------- points --

  #know(
    point: Point,
    step: (index: number) => Fact,
    what: { ranges?: ReadonlyMap<string, Range>; doublings?: number },
  ): Known {
    const key = pointKey(point);
    const known = this.#points.get(key);
    if (known !== undefined) return known;
    const index = this.#add(step(this.steps.length));
    const ranges = new Map(what.ranges);
    const found: Known = { ...point, index, ranges, doublings: what.doublings ?? 0 };
    this.#points.set(key, found);
    this.#queue.push(found);
    return found;
  }

  /** Points whose equation of the curve is in the constraints: V V = U (U U + A U + 1). */
  #scanCurves(): void {
    for (const square of this.#squares) {
      const u = square.left;
      const bracket = combine([1n, square.result], [A, u], [1n, ONE]);
      if (isConstant(bracket) || u.wires.length !== 1) continue;
      for (const cubic of this.#products(u, bracket))
        for (const root of this.#rootsOf.get(keyOf(cubic.result)) ?? [])
          this.#know(
            { u, v: root.left, scale: undefined },
            () => ({ rule: "curve", u, v: root.left, square, cubic, root }),
            {},
          );
    }
  }

  #extend(point: Known): void {
    if (point.scale === undefined) {
      this.#double(point);
      if (point.ranges.size > 0) this.#toEdwards(point);
    }
    if (point.ranges.size > 0) {
      // A point of odd order is not (0, 0), the only point with V = 0.
      this.#addNonzero(point.v, this.#add({ rule: "odd", point: point.index, form: point.v }));
      for (const unit of this.#units.values()) this.#step(point, unit);
      for (const pending of this.#pending.get(pointKey(point)) ?? []) this.#sum(point, pending);
    }
  }

  #double(point: Known): void {
    const { u, v } = point;
    for (const square of this.#products(u, u)) {
      const tangent = combine([3n, square.result], [2n * A, u], [1n, ONE]);
      for (const slope of this.#quotients(scaled(v, 2n), tangent)) {
        const base = { rule: "double", point: point.index, square, slope } as const;
        this.#addNonzero(v, this.#add({ ...base, form: v }));
        for (const first of this.#products(slope.left, slope.left)) {
          const newU = combine([1n, first.result], [-A, ONE], [-2n, u]);
          const seconds = this.#products(slope.left, combine([1n, u], [-1n, newU]));
          if (seconds.length === 0) this.#miss("double", [newU], "the equation for the v of the doubled point");
          for (const second of seconds) {
            const result: Point = { u: newU, v: combine([1n, second.result], [-1n, v]), scale: undefined };
            const doublings = point.doublings + 1;
            const ranges = new Map<string, Range>();
            for (const [unit, { low, high }] of point.ranges) ranges.set(unit, { low: 2n * low, high: 2n * high });
            const unit = doublings >= 3 && point.ranges.size === 0 ? pointKey(result) : undefined;
            if (unit !== undefined) ranges.set(unit, { low: 1n, high: 1n });
            const known = this.#know(result, () => ({ ...base, first, second, result, unit }), { ranges, doublings });
            if (unit !== undefined && known.ranges.has(unit)) this.#newUnit(unit, known);
          }
        }
      }
    }
  }

  /** A point of order ORDER: its multiples are counted, and its v is a scale for signs. */
  #newUnit(unit: string, point: Known): void {
    this.#units.set(unit, point);
    for (const square of this.#products(point.v, point.v)) {
      const signs = (this.#rootsOf.get(keyOf(square.result)) ?? []).filter(
        ({ left }) => left.wires.length === 1 && left.constant === 0n && !equal(left, point.v),
      );
      const cubes = this.#products(square.result, point.v).map((cube) => cube);
      const scale = this.#add({ rule: "scale", point: point.index, square, cubes });
      for (const sign of signs) {
        const wire = sign.left.wires[0] as number;
        if (sign.left.coefficients[0] !== 1n && sign.left.coefficients[0] !== P - 1n) continue;
        this.signs.set(wire, { square: keyOf(square.result), of: point.v, by: sign.by });
        this.#add({ rule: "sign", scale, wire, by: sign.by });
      }
      this.#scanWindows({ index: scale, square: square.result, cubes: cubes.map(({ result }) => result) });
    }
  }

  /** 2 sum + s unit, as (sum + s unit) + sum, for a sign s. */
  #step(sum: Known, unit: Known): void {
    const range = sum.ranges.get(pointKey(unit));
    if (range === undefined || sum.scale !== undefined) return;
    const divisor = combine([1n, sum.u], [-1n, unit.u]);
    for (const slope of this.#dividing(divisor)) {
      const term = combine([1n, sum.v], [-1n, slope.result]);
      const wire = term.wires[0];
      const sign = wire === undefined ? undefined : this.signs.get(wire);
      if (term.wires.length !== 1 || term.constant !== 0n || sign === undefined) {
        this.#miss("step", [divisor, term], "that the added v is plus or minus the v of the base");
        continue;
      }
      if (![1n, P - 1n].includes(term.coefficients[0] as bigint)) continue;
      if (!this.#products(unit.v, unit.v).some(({ result }) => keyOf(result) === sign.square)) continue;
      const { low, high } = range;
      const next = { low: 2n * low - 1n, high: 2n * high + 1n };
      // sum = a unit with a not 0, 1 or -1, and 2 a + s not 0 modulo ORDER.
      if (meetsOrder(low - 1n, high + 1n) || meetsOrder(next.low, next.high)) {
        this.#miss("step", [divisor], `an interval without a multiple of the order: it is [${low}, ${high}]`);
        continue;
      }
      for (const first of this.#products(slope.left, slope.left)) {
        const middle = combine([1n, first.result], [-A, ONE], [-1n, sum.u], [-1n, unit.u]);
        const second = combine([1n, sum.u], [-1n, middle]);
        const index = this.#add({
          rule: "step",
          sum: sum.index,
          unit: unit.index,
          sign: wire as number,
          slope,
          first,
          forms: [divisor, second],
        });
        this.#addNonzero(divisor, index);
        this.#addNonzero(second, index);
        const lines = this.#quotients(second, scaled(sum.v, 2n));
        if (lines.length === 0) this.#miss("step", [second], "the equation for the second slope");
        for (const line of lines) {
          const other = combine([1n, line.left], [-1n, slope.left]);
          for (const third of this.#products(other, other)) {
            const u = combine([1n, third.result], [-A, ONE], [-1n, middle], [-1n, sum.u]);
            for (const last of this.#products(other, combine([1n, sum.u], [-1n, u]))) {
              const result: Point = { u, v: combine([1n, last.result], [-1n, sum.v]), scale: undefined };
              const ranges = new Map([[pointKey(unit), next]]);
              this.#know(result, () => ({ rule: "stepped", step: index, line, third, last, result }), { ranges });
            }
          }
        }
      }
    }
  }

  // ------------------------------------------------------------------------------------- windows of fixed points --

  /** Points that a few signs choose: U = A B and V = D (U + c w^2), with forms over signs of one scale. */
  #scanWindows(scale: { index: number; square: Form; cubes: readonly Form[] } | undefined): void {
    const isSign = (wire: number) =>
      scale === undefined ? this.booleans.has(wire) : this.signs.get(wire)?.square === keyOf(scale.square);
    const overSigns = (form: Form) =>
      form.wires.length > 0 &&
      form.wires.length <= MAX_SIGNS &&
      form.wires.every(isSign) &&
      (scale === undefined || form.constant === 0n);
    const { constraints } = this.#system.system;
    for (let by = 0; by < constraints; by++) {
      const sides = this.#system.sides(by);
      if (sides?.length !== 3) continue;
      const [a, b, c] = sides as [Form, Form, Form];
      if (c.wires.length !== 1 || isSign(c.wires[0] as number) || !overSigns(a) || !overSigns(b)) continue;
      if (scale !== undefined && c.constant !== 0n) continue;
      const uWire = c.wires[0] as number;
      for (const other of this.#system.uses(uWire)) {
        const line = this.#system.sides(other);
        if (other === by || line?.length !== 3) continue;
        const [d, e, f] = line as [Form, Form, Form];
        for (const [factor, offset] of [
          [d, e],
          [e, d],
        ] as const) {
          if (!overSigns(factor) || !offset.wires.includes(uWire) || f.wires.length !== 1) continue;
          if (f.wires[0] === uWire || isSign(f.wires[0] as number)) continue;
          const fact = { by, other, uWire, vWire: f.wires[0] as number, scale: scale?.index };
          const window = this.#window(fact, [a, b, c], [factor, offset, f], scale);
          if (window !== undefined) this.#await(window);
        }
      }
    }
  }

  #window(
    fact: { by: number; other: number; uWire: number; vWire: number; scale: number | undefined },
    [a, b, c]: readonly [Form, Form, Form],
    [factor, offset, f]: readonly [Form, Form, Form],
    scale: { index: number; square: Form; cubes: readonly Form[] } | undefined,
  ): Known | undefined {
    const wires = [...new Set([...a.wires, ...b.wires, ...factor.wires])].sort((x, y) => x - y);
    if (wires.length > MAX_SIGNS) return undefined;
    // offset = p U + c w^2, with w = 1 if the signs are bits.
    const rest = combine([1n, offset], [-coefficientOf(offset, fact.uWire), wireForm(fact.uWire)]);
    const shift = scale === undefined ? (isConstant(rest) ? rest.constant : undefined) : multipleOf(rest, scale.square);
    if (shift === undefined) return undefined;
    if (scale !== undefined && f.constant !== 0n) return undefined;
    const points = Array.from({ length: 1 << wires.length }, (_, signs): [bigint, bigint] => {
      const value = (form: Form) =>
        mod(
          form.wires.reduce((sum, wire, i) => {
            const set = (signs >> wires.indexOf(wire)) & 1;
            const sign = scale === undefined ? BigInt(set) : set ? 1n : -1n;
            return sum + (form.coefficients[i] as bigint) * sign;
          }, form.constant),
        );
      const u = mod((value(a) * value(b) - c.constant) * inverse(c.coefficients[0] as bigint));
      const shifted = coefficientOf(offset, fact.uWire) * u + shift;
      return [u, mod((value(factor) * shifted - f.constant) * inverse(f.coefficients[0] as bigint))];
    });
    const multiples = multiplesOf(points);
    const point: Point = { u: wireForm(fact.uWire), v: wireForm(fact.vWire), scale: scale?.index };
    if (multiples === undefined) {
      this.#miss("window", [point.u, point.v], "that its points are sums of plus or minus 2^i Base8");
      return undefined;
    }
    return this.#know(point, () => ({ rule: "window", ...fact, wires, ...multiples }), {
      ranges: rangesOf(multiples.centre, multiples.parts),
    });
  }

  /** Finds the additions of a window to a sum that may not be known yet. */
  #await(window: Known): void {
    const wire = window.u.wires[0] as number;
    for (const by of this.#system.uses(wire)) {
      const sides = this.#system.sides(by);
      if (sides?.length !== 3) continue;
      const [a, b, c] = sides as [Form, Form, Form];
      for (const [slope, difference] of [
        [a, b],
        [b, a],
      ] as const) {
        const k = coefficientOf(difference, wire);
        if (k === 0n || slope.wires.length !== 1 || slope.constant !== 0n || slope.wires[0] === wire) continue;
        // difference = k (U_window - U_sum), so (k slope)(U_window - U_sum) = V_window - V_sum.
        const u = combine([1n, window.u], [-inverse(k), difference]);
        const v = combine([1n, window.v], [-1n, c]);
        const sum: Point = { u, v, scale: window.scale };
        const key = pointKey(sum);
        const pending = { window, slope: scaled(slope, k), by };
        append(this.#pending, key, pending);
        const known = this.#points.get(key);
        // A known point that waits in the queue is added when its turn comes.
        if (known === undefined) this.#start(sum);
        else if (!this.#queue.includes(known)) this.#sum(known, pending);
      }
    }
  }

  /** A first sum that is a constant, scaled by w, or that a few bits choose. */
  #start(point: Point): void {
    const { u, v, scale } = point;
    let points: [bigint, bigint][];
    let wires: number[] = [];
    if (scale === undefined) {
      wires = [...new Set([...u.wires, ...v.wires])].sort((x, y) => x - y);
      if (wires.length > MAX_SIGNS || !wires.every((wire) => this.booleans.has(wire))) return;
      points = Array.from({ length: 1 << wires.length }, (_, bits) => {
        const value = (form: Form) =>
          mod(
            form.wires.reduce(
              (sum, wire, i) => sum + (form.coefficients[i] as bigint) * BigInt((bits >> wires.indexOf(wire)) & 1),
              form.constant,
            ),
          );
        return [value(u), value(v)];
      });
    } else {
      const fact = this.steps[scale];
      if (fact?.rule !== "scale") return;
      const first = multipleOf(u, fact.square.result);
      const second = fact.cubes.map(({ result }) => multipleOf(v, result)).find((value) => value !== undefined);
      if (first === undefined || second === undefined) return;
      points = [[first, second]];
    }
    const multiples = multiplesOf(points);
    if (multiples === undefined) return;
    this.#know(point, () => ({ rule: "start", point, wires, ...multiples }), {
      ranges: rangesOf(multiples.centre, multiples.parts),
    });
  }

  #sum(sum: Known, { window, slope, by }: Pending): void {
    const divisor = combine([1n, window.u], [-1n, sum.u]);
    const dividend = combine([1n, window.v], [-1n, sum.v]);
    const ranges = new Map<string, Range>();
    for (const [unit, a] of sum.ranges) {
      const b = window.ranges.get(unit);
      if (b === undefined) continue;
      if (meetsOrder(a.low + b.low, a.high + b.high) || meetsOrder(a.low - b.high, a.high - b.low)) continue;
      ranges.set(unit, { low: a.low + b.low, high: a.high + b.high });
    }
    if (ranges.size === 0) {
      const list = [...sum.ranges.values()].map(({ low, high }) => `[${low}, ${high}]`).join(" or ");
      this.#miss("window", [divisor], `an interval without a multiple of the order: the sum's is ${list}`);
      return;
    }
    const line: Product = { by, left: slope, right: divisor, result: dividend };
    const index = this.#add({ rule: "add", sum: sum.index, window: window.index, line, form: divisor });
    this.#addNonzero(divisor, index);
    const square = sum.scale === undefined ? ONE : (this.steps[sum.scale] as Fact & { rule: "scale" }).square.result;
    for (const first of this.#products(slope, slope)) {
      const u = combine([1n, first.result], [-A, square], [-1n, sum.u], [-1n, window.u]);
      const seconds = this.#products(slope, combine([1n, sum.u], [-1n, u]));
      if (seconds.length === 0) this.#miss("window", [u], "the equation for the v of the sum");
      for (const second of seconds) {
        const result: Point = { u, v: combine([1n, second.result], [-1n, sum.v]), scale: sum.scale };
        this.#know(result, () => ({ rule: "added", add: index, first, second, result }), { ranges });
      }
    }
  }

  // ----------------------------------------------------------------------------------------------- Edwards points --

  #toEdwards(point: Known): void {
    const below = combine([1n, point.u], [1n, ONE]);
    for (const y of this.#quotients(below, combine([1n, point.u], [-1n, ONE]))) {
      this.#addNonzero(below, this.#add({ rule: "minus_one", point: point.index, form: below }));
      for (const x of this.#quotients(point.v, point.u)) {
        const index = this.#add({ rule: "edwards", point: point.index, x, y });
        this.#edwards.set(edwardsKey(x.left, y.left), index);
      }
    }
  }

  /** Points with a x^2 + y^2 = 1 + d x^2 y^2 in the constraints. */
  #scanBabyChecks(): void {
    const { constraints } = this.#system.system;
    for (let by = 0; by < constraints; by++) {
      const sides = this.#system.sides(by);
      if (sides?.length !== 3) continue;
      const [a, b, c] = sides as [Form, Form, Form];
      for (const [first, second] of [
        [a, b],
        [b, a],
      ] as const) {
        if (first.wires.length !== 1 || second.wires.length !== 1 || first.constant + second.constant !== 0n) continue;
        const [xx, yy] = [wireForm(first.wires[0] as number), wireForm(second.wires[0] as number)];
        const k = mod((first.coefficients[0] as bigint) * (second.coefficients[0] as bigint) * inverse(EDWARDS_D));
        if (!equal(c, scaled(combine([EDWARDS_A, xx], [1n, yy], [-1n, ONE]), k))) continue;
        for (const x of this.#rootsOf.get(keyOf(xx)) ?? [])
          for (const y of this.#rootsOf.get(keyOf(yy)) ?? []) {
            const index = this.#add({ rule: "baby_check", by, x, y });
            this.#edwards.set(edwardsKey(x.left, y.left), index);
          }
      }
    }
  }

  /** Sums of Edwards points, until no more are found. */
  #scanEdwards(): void {
    for (let size = -1; size !== this.#edwards.size; ) {
      size = this.#edwards.size;
      for (const [key, index] of [...this.#edwards]) this.#addEdwards(key, index);
    }
  }

  #addEdwards(key: string, index: number): void {
    const [x1, y1] = edwardsForms(this.steps[index] as Fact);
    if (x1.wires.length !== 1 || y1.wires.length !== 1) return;
    // tau is the product of x1 y2 and y1 x2: constraints that contain them name the candidates for (x2, y2).
    const others: [Form, Form, number][] = [...this.#edwards.values()].map((other) => [
      ...edwardsForms(this.steps[other] as Fact),
      other,
    ]);
    for (const product of this.#products(x1, y1)) {
      // A constant point (x2, y2) = (p, q): the numerator of x is q x1 + p y1.
      const tau = product.result;
      for (const line of this.#system.uses(tau.wires[0] ?? 0)) {
        const sides = this.#system.sides(line);
        const c = sides?.[2];
        if (c === undefined || c.wires.length !== 2 || c.constant !== 0n) continue;
        const [p, q] = [coefficientOf(c, y1.wires[0] as number), coefficientOf(c, x1.wires[0] as number)];
        for (const factor of (sides as readonly Form[]).slice(0, 2)) {
          // factor = k (1 + d p q x1 y1)
          const k = factor.constant;
          if (k === 0n || p === 0n || q === 0n) continue;
          const [x2, y2] = [p, q].map((value, i) => {
            const lead = (i === 0 ? y1 : x1).coefficients[0] as bigint;
            return constant(value * inverse(mod(k * lead)));
          }) as [Form, Form];
          if (
            mod(
              EDWARDS_A * x2.constant ** 2n + y2.constant ** 2n - 1n - EDWARDS_D * (x2.constant * y2.constant) ** 2n,
            ) === 0n
          )
            others.push([x2, y2, -1]);
        }
      }
    }
    for (const [x2, y2, other] of others) {
      const pair = `${key} ${edwardsKey(x2, y2)}`;
      if (this.#pairs.has(pair)) continue;
      this.#pairs.add(pair);
      for (const beta of this.#products(x1, y2))
        for (const gamma of this.#products(y1, x2))
          for (const tau of this.#products(beta.result, gamma.result))
            this.#complete(index, other, [x1, y1], [x2, y2], { beta, gamma, tau });
    }
  }

  #complete(
    first: number,
    second: number,
    [x1, y1]: readonly [Form, Form],
    [x2, y2]: readonly [Form, Form],
    { beta, gamma, tau }: { beta: Product; gamma: Product; tau: Product },
  ): void {
    const [plus, minus] = [EDWARDS_D, -EDWARDS_D].map((d) => combine([1n, ONE], [d, tau.result])) as [Form, Form];
    const base = { first, second, constant: second < 0 ? ([x2, y2] as const) : undefined, beta, gamma, tau } as const;
    const index = this.#add({ rule: "complete", ...base, forms: [plus, minus] });
    this.#addNonzero(plus, index);
    this.#addNonzero(minus, index);
    const [left, right] = [combine([-EDWARDS_A, x1], [1n, y1]), combine([1n, x2], [1n, y2])];
    for (const delta of this.#products(left, right))
      for (const y of this.#quotients(
        minus,
        combine([1n, delta.result], [EDWARDS_A, beta.result], [-1n, gamma.result]),
      ))
        for (const x of this.#quotients(plus, combine([1n, beta.result], [1n, gamma.result]))) {
          const key = edwardsKey(x.left, y.left);
          if (!this.#edwards.has(key))
            this.#edwards.set(key, this.#add({ rule: "completed", complete: index, delta, x, y }));
        }
  }
}

const at = (form: Form, value: bigint): bigint => mod(form.constant + (form.coefficients[0] ?? 0n) * value);
const wireForm = (wire: number): Form => ({ constant: 0n, wires: [wire], coefficients: [1n] });
const coefficientOf = ({ wires, coefficients }: Form, wire: number): bigint => coefficients[wires.indexOf(wire)] ?? 0n;
const pointKey = ({ u, v, scale }: Point): string => `${keyOf(u)} ${keyOf(v)} ${scale ?? "-"}`;
const edwardsKey = (x: Form, y: Form): string => `${keyOf(x)} ${keyOf(y)}`;

function edwardsForms(fact: Fact): [Form, Form] {
  if (fact.rule === "replace") return [...fact.coordinates];
  if (fact.rule !== "edwards" && fact.rule !== "baby_check" && fact.rule !== "completed" && fact.rule !== "lower")
    throw new Error(`${fact.rule} is not about an Edwards point`);
  return [fact.x.left, fact.y.left];
}

/** The c with form = c base; 0 for the zero form. */
function multipleOf(form: Form, base: Form): bigint | undefined {
  if (isZero(form)) return 0n;
  return isConstant(base) ? undefined : ratio(form, base);
}

/** Multiples of Base8/2 and, if they are even, of Base8. */
function rangesOf(centre: bigint, parts: readonly bigint[]): Map<string, Range> {
  const width = parts.reduce((sum, part) => sum + (part < 0n ? -part : part), 0n);
  const ranges = new Map([["Base8/2", { low: centre - width, high: centre + width }]]);
  if ([centre, ...parts].every((value) => value % 2n === 0n))
    ranges.set("Base8", { low: (centre - width) / 2n, high: (centre + width) / 2n });
  return ranges;
}
