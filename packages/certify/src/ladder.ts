import { A, type Affine, meetsOrder, multiplesOfUnit, onEdwards, onMontgomery, type Range } from "./curve.ts";
import { inverse, mod, P } from "./field.ts";
import { combine, constant, equal, type Form, isConstant, isZero, keyOf, scaled } from "./form.ts";
import type { Definition, LadderFact } from "./ladder-steps.ts";
import type { Normalized } from "./normalize.ts";
import type { Point, Product } from "./points.ts";
import type { Fact } from "./steps.ts";

// Ladders by Montgomery's formulas, as in circomlib: sums of points of a table that bits choose, and of multiples of a point
// that is only known to be on the curve. docs/certificate.md has the lemmas.

const ONE = constant(1n);
/** Maximum number of bits that choose a point of a table, and of constraints that compute it. */
const MAX_BITS = 4;
const MAX_DEFINITIONS = 12;

/**
 * The point is k times a unit with k = 2^shift m, where m is in one of `parts`, and odd if `odd`. The unit has order ORDER if it is
 * `constant`. Otherwise it is a point of the curve with v not 0, so its order is neither 1 nor 2.
 */
interface Multiple {
  readonly unit: Unit | string;
  readonly shift: number;
  readonly odd: boolean;
  readonly parts: readonly Range[];
}

interface Known {
  readonly index: number;
  readonly u: Form;
  readonly v: Form;
  readonly multiple: Multiple;
}

/** Points that bits choose: points[m] for the number m of the bits. */
interface Table {
  readonly bits: readonly number[];
  readonly definitions: readonly Definition[];
  readonly points: readonly (readonly [u: bigint, v: bigint])[];
}

/** A constant point of order ORDER, with the multiples that are small numbers times powers of two. */
interface Unit {
  readonly base: Affine;
  readonly multiples: ReadonlyMap<string, bigint>;
}

/** A constraint slope D = N, with its divisor and its dividend. */
interface Line {
  readonly product: Product;
  readonly divisor: Form;
}

/** A slope with three constraints: it may be that of a sum or of a tangent. */
interface Candidate {
  readonly square: Product;
  readonly line: Line;
  readonly last: Line;
  /** The wires of the slope's points: u of the first and of the second one; u of the result. */
  readonly u1: Form;
  readonly u2: Form | undefined;
  readonly u3: Form;
}

/** A constraint (U1 - U0) bit = U - U0, with U0. */
interface Selection {
  readonly bit: number;
  readonly product: Product;
  readonly zero: Form;
}

/** What `Facts` knows about the circuit. */
export interface LadderTools {
  readonly system: Normalized;
  readonly booleans: ReadonlySet<number>;
  readonly squares: readonly Product[];
  /** Edwards points found so far: x, y and the fact. */
  edwards(): readonly (readonly [x: Form, y: Form, index: number])[];
  addEdwards(x: Form, y: Form, fact: number): void;
  products(left: Form, right: Form): Product[];
  dividing(divisor: Form): Product[];
  quotients(divisor: Form, dividend: Form): Product[];
  nonzero(form: Form): number | undefined;
  add(fact: Fact): number;
  addNonzero(form: Form, fact: number): void;
}

/** Finds the facts about ladders. It adds none unless the denominator of a slope is not shown to be nonzero. */
export class Ladders {
  readonly #tools: LadderTools;
  readonly #known = new Map<string, Known[]>();
  /** Units by their u and v; undefined if a point is none. */
  readonly #units = new Map<string, Unit | undefined>();
  readonly #definitions = new Map<number, { bits: Set<number>; definitions: Definition[] } | undefined>();
  readonly #tables = new Map<string, Table | undefined>();
  readonly #done = new Set<string>();
  #slopes: Candidate[] | undefined;
  #selections: Selection[] | undefined;

  constructor(tools: LadderTools) {
    this.#tools = tools;
  }

  scan(): void {
    this.#slopes ??= this.#candidates();
    const candidates = this.#slopes;
    if (!candidates.some(({ line }) => this.#tools.nonzero(line.divisor) === undefined)) return;
    this.#selections ??= this.#choices();
    for (let size = -1; size !== this.#done.size; ) {
      size = this.#done.size;
      this.#fromEdwards();
      for (const candidate of candidates)
        if (candidate.u2 === undefined) this.#twice(candidate);
        else this.#sum(candidate, candidate.u2);
      for (const selection of this.#selections) this.#choice(selection);
      for (const known of [...this.#known.values()].flat()) this.#lower(known);
    }
  }

  #once(key: string): boolean {
    if (this.#done.has(key)) return false;
    this.#done.add(key);
    return true;
  }

  #find(u: Form, v?: Form): Known[] {
    return (this.#known.get(keyOf(u)) ?? []).filter((known) => v === undefined || equal(known.v, v));
  }

  #know(result: Point, multiple: Multiple, fact: LadderFact): number {
    const { u, v } = result;
    const index = this.#tools.add(fact);
    if ("forms" in fact) for (const form of fact.forms) this.#tools.addNonzero(form, index);
    const key = keyOf(u);
    this.#known.set(key, [...(this.#known.get(key) ?? []), { index, u, v, multiple }]);
    return index;
  }

  // ------------------------------------------------------------------------------------------------------- slopes --

  /** Slopes s with s s, s D and s D' in constraints, in each way in which they can be those of a sum or a tangent. */
  #candidates(): Candidate[] {
    const found: Candidate[] = [];
    for (const square of this.#tools.squares) {
      if (square.left.wires.length !== 1 || square.left.constant !== 0n) continue;
      const lines = this.#tools
        .dividing(square.left)
        .filter(({ by }) => by !== square.by)
        .map(
          ({ by, left, right, result }): Line => ({ product: { by, left: right, right: left, result }, divisor: left }),
        );
      if (lines.length < 2 || lines.length > 6) continue;
      const signed = lines.flatMap((line) => [line, negative(line)]);
      for (const line of signed)
        for (const last of signed) {
          if (line.product.by === last.product.by) continue;
          // last is u1 - u3; square is u1 + u2 + u3 + A.
          const sum = combine([1n, square.result], [-A, ONE], [1n, last.divisor]);
          const sums = scaled(combine([1n, sum], [-1n, line.divisor]), inverse(3n));
          const tangent = scaled(sum, inverse(3n));
          for (const [u1, u2] of [
            [sums, combine([1n, sums], [1n, line.divisor])],
            [tangent, undefined],
          ] as const) {
            const u3 = combine([1n, u1], [-1n, last.divisor]);
            if ([u1, u2, u3].every((form) => form === undefined || form.wires.length <= 1))
              found.push({ square, line, last, u1, u2, u3 });
          }
        }
    }
    return found;
  }

  #twice({ square, line, last, u1, u3 }: Candidate): void {
    const v = scaled(line.divisor, inverse(2n));
    for (const point of this.#find(u1, v))
      for (const squared of this.#tools.products(u1, u1)) {
        const tangent = combine([3n, squared.result], [2n * A, u1], [1n, ONE]);
        if (!equal(tangent, line.product.result) || !this.#once(`twice ${point.index} ${square.by}`)) continue;
        const result = { u: u3, v: combine([1n, last.product.result], [-1n, v]), scale: undefined };
        const { multiple, index } = point;
        this.#know(
          result,
          { ...multiple, shift: multiple.shift + 1 },
          {
            rule: "twice",
            point: index,
            square: squared,
            slope: line.product,
            first: square,
            second: last.product,
            forms: [v],
            result,
          },
        );
      }
  }

  #sum(candidate: Candidate, u2: Form): void {
    const { square, line, last, u1 } = candidate;
    const key = `${square.by} ${line.product.by} ${keyOf(line.divisor)} ${keyOf(last.divisor)}`;
    if (this.#done.has(key)) return;
    for (const v1 of this.#ordinates(candidate, u2)) {
      const v2 = combine([1n, line.product.result], [1n, v1]);
      const pair = this.#distinctPoints({ u: u1, v: v1 }, { u: u2, v: v2 });
      if (pair === undefined) continue;
      this.#done.add(key);
      const [first, second] = pair;
      const result = { u: candidate.u3, v: combine([1n, last.product.result], [-1n, v1]), scale: undefined };
      const { index } = first;
      this.#know(result, added(first.multiple, second.multiple), {
        rule: "sum",
        first: index,
        second: second.index,
        line: line.product,
        square,
        last: last.product,
        forms: [line.divisor],
        result,
      });
      return;
    }
  }

  /** What v1 may be: v2 - v1 and v3 + v1 are in the constraints. */
  #ordinates({ line, last, u1 }: Candidate, u2: Form): Form[] {
    const dividend = line.product.result;
    const known = [
      ...this.#find(u1).map(({ v }) => v),
      ...this.#find(u2).map(({ v }) => combine([1n, v], [-1n, dividend])),
    ];
    if (known.length > 0) return known;
    const { constant: value, wires, coefficients } = last.product.result;
    const common = wires.flatMap((wire, i) =>
      dividend.wires.includes(wire) ? [[wire, coefficients[i]] as const] : [],
    );
    return [{ constant: value, wires: common.map(([wire]) => wire), coefficients: common.map(([, k]) => k as bigint) }];
  }

  /** Facts about two points that are never equal. */
  #distinctPoints(first: Omit<Point, "scale">, second: Omit<Point, "scale">): [Known, Known] | undefined {
    const [ours, theirs] = [this.#find(first.u, first.v), this.#find(second.u, second.v)];
    for (const a of ours) for (const b of theirs) if (areDistinct(a.multiple, b.multiple)) return [a, b];
    const tables = [this.#table(first), this.#table(second)] as const;
    if ((ours.length === 0 && tables[0] === undefined) || (theirs.length === 0 && tables[1] === undefined))
      return undefined;
    for (const unit of this.#unitsFor([...ours, ...theirs], tables)) {
      const a = ours.find(({ multiple }) => multiple.unit === unit) ?? this.#inTable(tables[0], unit);
      const b = theirs.find(({ multiple }) => multiple.unit === unit) ?? this.#inTable(tables[1], unit);
      if (a === undefined || b === undefined) continue;
      const [x, y] = [a, b].map((one) => ("index" in one ? one.multiple : multipleOfTable(unit, one)));
      if (x === undefined || y === undefined || !areDistinct(x, y)) continue;
      const know = (point: Omit<Point, "scale">, found: typeof a, table: Table | undefined): Known =>
        "index" in found ? found : this.#knowTable(point, table as Table, unit, found);
      return [know(first, a, tables[0]), know(second, b, tables[1])];
    }
    return undefined;
  }

  /** Units in which two points may be counted. A new one is computed only if the others do not suffice. */
  *#unitsFor(points: readonly Known[], tables: readonly (Table | undefined)[]): Iterable<Unit> {
    for (const { multiple } of points) if (typeof multiple.unit !== "string") yield multiple.unit;
    for (const unit of [...this.#units.values()]) if (unit !== undefined) yield unit;
    for (const table of tables) {
      const unit = table === undefined ? undefined : this.#newUnit(table);
      if (unit !== undefined) yield unit;
    }
  }

  // ------------------------------------------------------------------------------------------------------- tables --

  /** The first point of a table as a unit. */
  #newUnit({ points }: Table): Unit | undefined {
    const [first] = points as readonly [readonly [bigint, bigint]];
    const key = first.join();
    if (!this.#units.has(key)) this.#units.set(key, multiplesOfUnit(first));
    return this.#units.get(key);
  }

  #inTable(table: Table | undefined, unit: Unit): bigint[] | undefined {
    const found = table?.points.map(([u, v]) => unit.multiples.get(`${u},${v}`));
    return found?.every((k) => k !== undefined) ? (found as bigint[]) : undefined;
  }

  #knowTable({ u, v }: Omit<Point, "scale">, { bits, definitions }: Table, unit: Unit, multiples: bigint[]): Known {
    const result = { u, v, scale: undefined };
    const multiple = multipleOfTable(unit, multiples);
    const { x, y } = unit.base;
    const index = this.#know(result, multiple, { rule: "table", bits, definitions, base: [x, y], multiples, result });
    return { index, u, v, multiple };
  }

  #table({ u, v }: Omit<Point, "scale">): Table | undefined {
    const key = `${keyOf(u)} ${keyOf(v)}`;
    if (!this.#tables.has(key)) this.#tables.set(key, this.#compute(u, v));
    return this.#tables.get(key);
  }

  #compute(u: Form, v: Form): Table | undefined {
    const all = [...u.wires, ...v.wires].map((wire) => this.#define(wire, new Set()));
    if (all.some((one) => one === undefined)) return undefined;
    const bits = [...new Set(all.flatMap((one) => [...(one?.bits ?? [])]))].sort((x, y) => x - y);
    const definitions = unique(all.flatMap((one) => one?.definitions ?? []));
    if (bits.length > MAX_BITS) return undefined;
    const points = Array.from({ length: 1 << bits.length }, (_, m): [bigint, bigint] => {
      const values = new Map(bits.map((bit, i) => [bit, BigInt((m >> i) & 1)]));
      const at = (form: Form) =>
        form.wires.reduce(
          (sum, wire, i) => sum + (form.coefficients[i] as bigint) * (values.get(wire) ?? 0n),
          form.constant,
        );
      for (const { by, wire } of definitions) {
        const sides = this.#tools.system.sides(by) as readonly Form[];
        const [c, a, b] = [sides.at(-1) as Form, ...(sides.length === 3 ? sides : [])] as [Form, Form?, Form?];
        const product = a === undefined || b === undefined ? 0n : at(a) * at(b);
        values.set(wire, mod((product - at(c)) * inverse(c.coefficients[c.wires.indexOf(wire)] as bigint)));
      }
      return [mod(at(u)), mod(at(v))];
    });
    return points.every(([x, y]) => y !== 0n && onMontgomery(x, y)) ? { bits, definitions, points } : undefined;
  }

  /** The bits that decide the value of a wire, and the constraints that compute it from them. */
  #define(wire: number, above: ReadonlySet<number>): { bits: Set<number>; definitions: Definition[] } | undefined {
    if (this.#tools.booleans.has(wire)) return { bits: new Set([wire]), definitions: [] };
    if (this.#definitions.has(wire)) return this.#definitions.get(wire);
    const next = new Set([...above, wire]);
    let found: { bits: Set<number>; definitions: Definition[] } | undefined;
    for (const by of above.size < MAX_BITS ? this.#tools.system.uses(wire) : []) {
      const sides = this.#tools.system.sides(by) as readonly Form[];
      const factors = sides.slice(0, -1).flatMap(({ wires }) => wires);
      const others = new Set([...factors, ...(sides.at(-1) as Form).wires]);
      others.delete(wire);
      if (factors.includes(wire) || others.size > 2 * MAX_BITS) continue;
      if ([...others].some((other) => next.has(other))) continue;
      const parts: { bits: Set<number>; definitions: Definition[] }[] = [];
      for (const other of others) {
        const part = this.#define(other, next);
        if (part === undefined) break;
        parts.push(part);
      }
      const bits = new Set(parts.flatMap((part) => [...part.bits]));
      const definitions = unique([...parts.flatMap((part) => part.definitions), { by, wire }]);
      if (parts.length < others.size || bits.size > MAX_BITS || definitions.length > MAX_DEFINITIONS) continue;
      found = { bits, definitions };
      break;
    }
    // Below another wire, a definition can be missing only because it goes round in a circle.
    if (found !== undefined || above.size === 0) this.#definitions.set(wire, found);
    return found;
  }

  // ------------------------------------------------------------------------------------------------------ choices --

  /** All constraints (U1 - U0) bit = U - U0 with one wire for U0, and none for the bit but its own. */
  #choices(): Selection[] {
    const found: Selection[] = [];
    for (const bit of this.#tools.booleans)
      for (const product of this.#tools.dividing({ constant: 0n, wires: [bit], coefficients: [1n] })) {
        const { left, result } = product;
        for (const [i, wire] of left.wires.entries()) {
          const k = left.coefficients[i] as bigint;
          const at = result.wires.indexOf(wire);
          if (at < 0 || result.coefficients[at] !== k) continue;
          for (const sign of [1n, -1n]) {
            const zero = { constant: 0n, wires: [wire], coefficients: [mod(-sign * k)] };
            const one = scaled(left, mod(sign));
            found.push({ bit, product: { ...product, left: one, result: scaled(result, mod(sign)) }, zero });
          }
        }
      }
    return found;
  }

  #choice({ bit, product, zero }: Selection): void {
    for (const a of this.#find(zero))
      for (const b of this.#find(combine([1n, product.left], [1n, zero]))) {
        const multiple = either(a.multiple, b.multiple);
        if (multiple === undefined) continue;
        const run = combine([1n, b.v], [-1n, a.v]);
        for (const v of this.#tools.products(run, product.right)) {
          if (!this.#once(`choice ${bit} ${a.index} ${b.index}`)) continue;
          const result = {
            u: combine([1n, product.result], [1n, zero]),
            v: combine([1n, v.result], [1n, a.v]),
            scale: undefined,
          };
          this.#know(result, multiple, { rule: "choice", bit, zero: a.index, one: b.index, u: product, v, result });
        }
      }
  }

  // ----------------------------------------------------------------------------------------------- Edwards points --

  #fromEdwards(): void {
    for (const [x, y, index] of this.#tools.edwards()) {
      this.#replace(x, y, index);
      const nonzero = isConstant(x) ? undefined : this.#tools.nonzero(x);
      if (nonzero === undefined || nonzero < 0) continue;
      const [below, above] = [combine([1n, ONE], [-1n, y]), combine([1n, ONE], [1n, y])];
      for (const u of this.#tools.quotients(below, above))
        for (const v of this.#tools.quotients(x, u.left)) {
          if (!this.#once(`lift ${index} ${u.by} ${v.by}`)) continue;
          const result = { u: u.left, v: v.left, scale: undefined };
          const unit = `${keyOf(u.left)} ${keyOf(v.left)}`;
          const parts = [{ low: 1n, high: 1n }];
          const multiple = { unit, shift: 0, odd: true, parts };
          this.#know(result, multiple, { rule: "lift", edwards: index, nonzero, u, v, forms: [below], result });
        }
    }
  }

  #lower(point: Known): void {
    if (this.#done.has(`lower ${point.index}`) || !hasOrdinate(point.multiple)) return;
    const { u, v, index } = point;
    const above = combine([1n, u], [1n, ONE]);
    for (const x of this.#tools.quotients(v, u))
      for (const y of this.#tools.quotients(above, combine([1n, u], [-1n, ONE]))) {
        if (!this.#once(`lower ${index}`)) return;
        const fact = this.#tools.add({ rule: "lower", point: index, x, y, forms: [v, above, x.left] });
        for (const form of [v, above, x.left]) this.#tools.addNonzero(form, fact);
        this.#tools.addEdwards(x.left, y.left, fact);
      }
  }

  /** circomlib replaces a point whose x is 0: IsZero's output chooses. */
  #replace(x: Form, y: Form, edwards: number): void {
    if (isConstant(x) || !this.#once(`replace ${edwards}`)) return;
    const zero = constant(0n);
    for (const empty of this.#tools.dividing(x)) {
      const flag = empty.left;
      const [wire] = flag.wires;
      if (!isZero(empty.result) || wire === undefined || flag.wires.length > 1 || flag.constant !== 0n) continue;
      const z = { constant: 0n, wires: [wire], coefficients: [1n] };
      const [full] = this.#tools.dividing(x).flatMap((product) => {
        const k = product.result.constant;
        if (k === 0n || !equal(product.result, combine([k, ONE], [-k, z]))) return [];
        return [{ ...product, left: scaled(product.left, inverse(k)), result: combine([1n, ONE], [-1n, z]) }];
      });
      if (full === undefined) continue;
      const products = this.#tools
        .dividing(z)
        .flatMap((one) => [one, { ...one, left: scaled(one.left, P - 1n), result: scaled(one.result, P - 1n) }]);
      // (X - x) flag = px - x for a constant X
      const toward = (form: Form) =>
        products.flatMap((product) => {
          const base = combine([1n, product.left], [1n, form]);
          return isConstant(base) ? [{ product, base, result: combine([1n, product.result], [1n, form]) }] : [];
        });
      for (const px of toward(x))
        for (const py of toward(y)) {
          const base = [px.base.constant, py.base.constant] as const;
          if (base[0] === 0n || !onEdwards({ x: base[0], y: base[1] })) continue;
          const fact = this.#tools.add({
            rule: "replace",
            edwards,
            flag: wire,
            empty: { ...empty, left: z, result: zero },
            full,
            base,
            x: px.product,
            y: py.product,
            coordinates: [px.result, py.result],
            forms: [px.result],
          });
          this.#tools.addNonzero(px.result, fact);
          this.#tools.addEdwards(px.result, py.result, fact);
        }
    }
  }
}

const negative = ({ product, divisor }: Line): Line => {
  const right = scaled(divisor, P - 1n);
  return { product: { ...product, right, result: scaled(product.result, P - 1n) }, divisor: right };
};

const unique = (definitions: readonly Definition[]): Definition[] => [
  ...new Map(definitions.map((one) => [one.wire, one])).values(),
];

/** The parts of 2^(shift - least) times a multiple's m. */
const scaleParts = ({ parts, shift }: Multiple, least: number): Range[] =>
  parts.map(({ low, high }) => ({ low: low << BigInt(shift - least), high: high << BigInt(shift - least) }));

function hull(parts: readonly Range[]): Range {
  let [{ low, high }] = parts as readonly [Range];
  for (const part of parts) {
    if (part.low < low) low = part.low;
    if (part.high > high) high = part.high;
  }
  return { low, high };
}

function multipleOfTable(unit: Unit, multiples: readonly bigint[]): Multiple {
  const valuations = multiples.map((k) => {
    let shift = 0;
    for (let rest = k; rest % 2n === 0n; rest /= 2n) shift++;
    return shift;
  });
  const shift = Math.min(...valuations);
  const parts = multiples.map((k) => ({ low: k >> BigInt(shift), high: k >> BigInt(shift) }));
  return { unit, shift, odd: valuations.every((one) => one === shift), parts };
}

/** The multiples of a sum, or of a difference: both are odd in the same cases. */
function added(a: Multiple, b: Multiple): Multiple {
  const shift = Math.min(a.shift, b.shift);
  const [p, q] = [hull(scaleParts(a, shift)), hull(scaleParts(b, shift))];
  const odd = a.shift !== b.shift && (a.shift < b.shift ? a : b).odd;
  return { unit: a.unit, shift, odd, parts: [{ low: p.low + q.low, high: p.high + q.high }] };
}

/** Whether no two of the multiples are the same point. */
function areDistinct(a: Multiple, b: Multiple): boolean {
  if (a.unit !== b.unit) return false;
  const { shift, odd } = added(a, b);
  // A unit of any order: the difference is odd or twice an odd number, so that it is no multiple of 4.
  if (typeof a.unit === "string" && !(odd && shift <= 1)) return false;
  const [x, y] = [scaleParts(a, shift), scaleParts(b, shift)];
  return x.every((p) => y.every((q) => !meetsOrder(p.low - q.high, p.high - q.low)));
}

/** A point that is one of two; undefined if they are multiples of different units. */
function either(a: Multiple, b: Multiple): Multiple | undefined {
  if (a.unit !== b.unit) return undefined;
  const shift = Math.min(a.shift, b.shift);
  const all = hull([...scaleParts(a, shift), ...scaleParts(b, shift)]);
  return { ...a, shift, odd: a.odd && b.odd && a.shift === b.shift, parts: [all] };
}

/** Whether the v of the point is not 0. */
const hasOrdinate = ({ unit, shift, odd, parts }: Multiple): boolean =>
  typeof unit !== "string" ||
  shift >= 3 ||
  (shift === 0 && odd && !parts.some(({ low, high }) => meetsOrder(low, high)));
