import { inverse, mod, P, smallest } from "./field.ts";
import type { Form } from "./form.ts";
import type { Normalized } from "./normalize.ts";

// A range says between which bounds the representative of smallest absolute value of a wire is. docs/certificate.md has the argument
// ("Long division").

/** Bounds of an integer. */
export interface Range {
  readonly low: bigint;
  readonly high: bigint;
}

export const BIT: Range = { low: 0n, high: 1n };
export const ONE: Range = { low: 1n, high: 1n };
export const absolute = (value: bigint): bigint => (value < 0n ? -value : value);
const negative = ({ low, high }: Range): Range => ({ low: -high, high: -low });
export const add = (a: Range, b: Range): Range => ({ low: a.low + b.low, high: a.high + b.high });
export const times = (k: bigint, range: Range): Range => {
  const { low, high } = k < 0n ? negative(range) : range;
  return { low: absolute(k) * low, high: absolute(k) * high };
};
export function product(a: Range, b: Range): Range {
  const ends = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
  ends.sort((x, y) => (x < y ? -1 : x > y ? 1 : 0));
  return { low: ends[0] as bigint, high: ends[3] as bigint };
}

/** The ranges of all wires that linear constraints give. */
export class Ranges {
  readonly #system: Normalized;
  readonly #booleans: ReadonlySet<number>;
  readonly #found = new Map<number, Range & { readonly by: number }>();

  constructor(system: Normalized, booleans: ReadonlySet<number>) {
    this.#system = system;
    this.#booleans = booleans;
    const queue: number[] = [];
    const { constraints } = system.system;
    // Sums of bits come first, and of several of one wire the narrowest: a comparison of the wire gives a wider range than its own bits.
    for (let by = 0; by < constraints; by++) {
      const sides = system.sides(by);
      if (sides?.length !== 1) continue;
      queue.push(by);
      const [wire, ...others] = (sides[0] as Form).wires.filter((one) => !booleans.has(one));
      if (wire !== undefined && others.length === 0) this.#find(by, wire);
    }
    const linear = new Set(queue);
    for (let by = queue.pop(); by !== undefined; by = queue.pop()) {
      const [wire, ...others] = this.#unranged(by);
      if (wire === undefined || others.length > 0 || !this.#find(by, wire)) continue;
      queue.push(...system.uses(wire).filter((use) => linear.has(use)));
    }
  }

  get(wire: number): Range | undefined {
    return this.#booleans.has(wire) ? BIT : this.#found.get(wire);
  }

  /** Whether a wire is a sum of bits, and a constant. */
  hasBits(wire: number): boolean {
    const by = this.#found.get(wire)?.by;
    return by !== undefined && this.#others(by, wire).every((other) => this.#booleans.has(other));
  }

  /** What a replay needs for the ranges of these wires, in an order that it can follow. */
  steps(wires: Iterable<number>): { by: number; wire: number }[] {
    const needed = new Set<number>();
    const queue = [...wires];
    for (let wire = queue.pop(); wire !== undefined; wire = queue.pop()) {
      const by = this.#booleans.has(wire) ? undefined : this.#found.get(wire)?.by;
      if (by === undefined || needed.has(wire)) continue;
      needed.add(wire);
      queue.push(...this.#others(by, wire));
    }
    // The ranges that one rests on were found before it.
    return [...this.#found].flatMap(([wire, { by }]) => (needed.has(wire) ? [{ by, wire }] : []));
  }

  #linear(by: number): Form {
    return (this.#system.sides(by) as readonly [Form])[0];
  }

  #others(by: number, wire: number): number[] {
    return this.#linear(by).wires.filter((other) => other !== wire);
  }

  /** The wires of a linear constraint whose range is not known. */
  #unranged(by: number): number[] {
    return this.#linear(by).wires.filter((wire) => this.get(wire) === undefined);
  }

  #find(by: number, wire: number): boolean {
    const sum = this.#linear(by);
    const scale = inverse(mod(-(sum.coefficients[sum.wires.indexOf(wire)] as bigint)));
    const constant = smallest(sum.constant * scale);
    const { low, high } = sum.wires.reduce(
      (range, one, i) =>
        one === wire
          ? range
          : add(range, times(smallest((sum.coefficients[i] as bigint) * scale), this.get(one) as Range)),
      { low: constant, high: constant },
    );
    const known = this.#found.get(wire);
    const isWider = known !== undefined && known.high - known.low <= high - low;
    if (isWider || -2n * low >= P || 2n * high >= P) return false;
    this.#found.set(wire, { low, high, by });
    return true;
  }
}
