/** Operands of the field emitter. */
import type { Code } from "./assembler.ts";

/** Returns the code that loads one limb of an operand in both lanes. Limbs are integers between -2^51 and 2^51. */
export type Operand = (limb: number) => Code;

/** A product of two field elements. */
export interface Product {
  /** If it is the same object as `right`, the product is computed as a square. */
  readonly left: Operand;
  /** The other factor. */
  readonly right: Operand;
}

/** A field element that is added to a sum of products. */
export interface Addend {
  /** Canonical. */
  readonly value: Operand;
  /** Whether it is subtracted instead. */
  readonly negative?: boolean | undefined;
}

/** The steps that reduce the sum of products to [0, p). */
export interface Reduction {
  /** Default: none. */
  readonly addends?: readonly Addend[] | undefined;
  /** Multiples of the modulus to add, so that the value is not negative. */
  readonly bias: number;
  /** Multiples of the modulus to subtract if the value is not below them, largest first; then it is below the modulus. */
  readonly steps: readonly number[];
}
