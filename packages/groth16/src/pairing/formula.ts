/** Writes formulas over a field as code, and checks at each step that the bounds of src/pairing/field.ts are kept. */
import type { Code } from "../fast/assembler.ts";
import { i32 } from "../fast/instructions.ts";
import { type Coefficient, type FieldCode, MAX_PRODUCTS, MAX_STORED, MAX_SUM, weightOf } from "./field.ts";
import type { Layout } from "./memory.ts";

/** An element in memory. */
export interface Element {
  /** The code of its address. */
  readonly at: Code;
  /** How many small elements it is the sum of. */
  readonly weight: number;
}

/** A coefficient and the element that it multiplies. */
export type Term = readonly [Coefficient, Element];

/** The address `bytes` after another one. */
export function after(address: Code, bytes: number): Code {
  return bytes === 0 ? address : i32.add(address, i32.const(bytes));
}

/** Copies memory. */
export function copy(out: Code, from: Code, bytes: number): Code {
  return Array.from({ length: bytes / 4 }, (_, word) => i32.store(out, i32.load(from, 4 * word), 4 * word));
}

/** `count` small elements from an address on. */
export function elementsAt(field: FieldCode, address: Code, count: number): Element[] {
  return Array.from({ length: count }, (_, index) => ({ at: after(address, index * field.bytes), weight: 1 }));
}

/** Collects the code of a formula. Results without a given place are in scratch memory. */
export class Formula {
  readonly code: Code[] = [];
  readonly #field: FieldCode;
  readonly #layout: Layout;

  constructor(field: FieldCode, layout: Layout) {
    this.#field = field;
    this.#layout = layout;
  }

  /** Memory for one element. */
  place(): Code {
    return i32.const(this.#layout.scratch(this.#field.bytes));
  }

  multiply(a: Element, b: Element, out = this.place()): Element {
    if (this.#field.degree * a.weight * b.weight > MAX_PRODUCTS)
      throw new Error("the factors of a product are too large");
    this.code.push(this.#field.multiply(out, a.at, b.at));
    return { at: out, weight: 1 };
  }

  square(a: Element, out = this.place()): Element {
    if (this.#field.degree * a.weight * a.weight > MAX_PRODUCTS) throw new Error("the base of a square is too large");
    this.code.push(this.#field.square(out, a.at));
    return { at: out, weight: 1 };
  }

  /** A reduced sum, which is small. */
  sum(terms: readonly Term[], out = this.place()): Element {
    if (weightOfSum(terms) > MAX_SUM) throw new Error("a sum is too large");
    return this.#sum(terms, true, 1, out);
  }

  /** A sum that is not reduced, which takes less time. */
  loose(...terms: readonly Term[]): Element {
    const weight = weightOfSum(terms);
    if (weight > MAX_STORED) throw new Error("a sum is too large for the memory");
    return this.#sum(terms, false, weight, this.place());
  }

  #sum(terms: readonly Term[], isReduced: boolean, weight: number, out: Code): Element {
    const call = this.#field.sum(
      terms.map(([coefficient]) => coefficient),
      isReduced,
    );
    this.code.push(call(out, ...terms.map(([, { at }]) => at)));
    return { at: out, weight };
  }

  /** Adds other code. */
  run(...code: Code[]): void {
    this.code.push(...code);
  }
}

function weightOfSum(terms: readonly Term[]): number {
  return terms.reduce((sum, [coefficient, { weight }]) => sum + weightOf(coefficient) * weight, 0);
}
