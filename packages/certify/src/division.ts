import { sumOfBits } from "./compare.ts";
import { inverse, mod, P, smallest } from "./field.ts";
import type { Form } from "./form.ts";
import type { Normalized } from "./normalize.ts";
import type { Determination, Scaled } from "./steps.ts";

// Division with remainder: q D + r is determined, r < D, and all three are numbers of so few bits that nothing exceeds the prime.
// docs/certificate.md has the argument ("Division").

export type Division = Determination & { rule: "division" };
/** A wire is an integer from 0 to `high`, by the constraint `by`; by itself, if it is a bit and `by` is -1. */
interface Range {
  readonly by: number;
  readonly high: bigint;
}

/** Divisions with remainder. The ranges of all wires are found once. */
export class Divisions {
  readonly #system: Normalized;
  readonly #booleans: ReadonlySet<number>;
  readonly #ranges = new Map<number, Range>();

  constructor(system: Normalized, booleans: ReadonlySet<number>) {
    this.#system = system;
    this.#booleans = booleans;
    for (const wire of booleans) this.#ranges.set(wire, { by: -1, high: 1n });
    for (let by = 0; by < system.system.constraints; by++) this.#findRange(by);
  }

  /** A wire that is a sum of bits. */
  #findRange(by: number): void {
    const sides = this.#system.sides(by);
    const [sum] = sides ?? [];
    if (sides?.length !== 1 || sum === undefined || sum.constant !== 0n) return;
    const [wire, ...others] = sum.wires.filter((one) => !this.#booleans.has(one));
    if (wire === undefined || others.length > 0 || this.#ranges.has(wire)) return;
    const scale = inverse(mod(-(sum.coefficients[sum.wires.indexOf(wire)] as bigint)));
    const high = sum.wires.reduce(
      (total, one, i) => (one === wire ? total : total + mod((sum.coefficients[i] as bigint) * scale)),
      0n,
    );
    if (high < P) this.#ranges.set(wire, { by, high });
  }

  /** The step that determines both open wires of a constraint as quotient and remainder, if there is one. */
  find(by: number, isKnown: (wire: number) => boolean): Division | undefined {
    const sides = this.#system.sides(by) as readonly Form[];
    const open = [...new Set(sides.flatMap(({ wires }) => wires))].filter((wire) => !isKnown(wire));
    const [first, second] = open;
    if (first === undefined || second === undefined || open.length > 2) return undefined;
    for (const [quotient, remainder] of [
      [first, second],
      [second, first],
    ] as const) {
      const divisor = divisorOf(sides, quotient, remainder);
      if (divisor === undefined) continue;
      const wire = typeof divisor === "number" ? divisor : undefined;
      const [q, r, d] = [quotient, remainder, wire].map((one) =>
        one === undefined ? undefined : this.#ranges.get(one),
      );
      const most = typeof divisor === "bigint" ? divisor : d?.high;
      if (q === undefined || r === undefined || most === undefined || most * q.high + r.high >= P) continue;
      const less = this.#less(remainder, r.high, divisor, most);
      if (less === undefined) continue;
      const ranges = [q.by, r.by, ...(d === undefined ? [] : [d.by])];
      return {
        rule: "division",
        by,
        quotient,
        remainder,
        ...(wire === undefined ? {} : { divisor: wire }),
        ranges,
        less,
      };
    }
    return undefined;
  }

  /** Constraints that add up to: the remainder less the divisor is a sum of bits that is below 0. */
  #less(remainder: number, high: bigint, divisor: number | bigint, most: bigint): Scaled[] | undefined {
    if (typeof divisor === "bigint" && high < divisor) return [];
    const isTerm = (wire: number) => wire === remainder || wire === divisor;
    for (const start of this.#system.uses(remainder)) {
      if (!this.#system.isLinear(start)) continue;
      const sum = sumOfBits(this.#system, (wire) => this.#booleans.has(wire) || isTerm(wire), start);
      const unit = sum?.linear.get(remainder);
      if (sum === undefined || unit === undefined || sum.products.length > 0) continue;
      const scale = inverse(unit);
      if (typeof divisor === "number" && mod((sum.linear.get(divisor) ?? 0n) * scale + 1n) !== 0n) continue;
      // r - D + constant + bits = 0
      let [low, top] = [0n, 0n];
      for (const [wire, value] of sum.linear) {
        if (isTerm(wire)) continue;
        const part = smallest(-value * scale);
        if (part < 0n) low += part;
        else top += part;
      }
      const constant = smallest(-sum.constant * scale - (typeof divisor === "bigint" ? divisor : 0n));
      [low, top] = [low + constant, top + constant];
      const [above, below] = [top > high ? top : high, low < -most ? low : -most];
      if (top < 0n && above - below < P) return sum.terms.map((one) => ({ by: one.by, scale: mod(one.scale * scale) }));
    }
    return undefined;
  }
}

/** D, if a constraint is k (q D + r) = something determined: a wire or a positive integer. */
function divisorOf(sides: readonly Form[], quotient: number, remainder: number): number | bigint | undefined {
  const sum = sides.at(-1) as Form;
  const [inQ, inR] = [quotient, remainder].map((wire) => sum.coefficients[sum.wires.indexOf(wire)] ?? 0n) as [
    bigint,
    bigint,
  ];
  if (inR === 0n) return undefined;
  if (sides.length === 1) {
    const divisor = smallest(inQ * inverse(inR));
    return divisor > 0n ? divisor : undefined;
  }
  const [a, b] = sides as [Form, Form];
  if (inQ !== 0n || [a, b].some(({ wires, constant }) => wires.length !== 1 || constant !== 0n)) return undefined;
  const [x, y] = [a.wires[0], b.wires[0]] as [number, number];
  if ([x, y].includes(remainder) || (x === quotient) === (y === quotient)) return undefined;
  const product = (a.coefficients[0] as bigint) * (b.coefficients[0] as bigint);
  return mod(product + inR) === 0n ? (x === quotient ? y : x) : undefined;
}
