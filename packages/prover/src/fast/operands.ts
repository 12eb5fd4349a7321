/** Operands of the field emitter. */
import type { Code } from "./assembler.ts";

/** Returns the code that loads one limb of an operand in both lanes. Limbs are integers between -2^51 and 2^51. */
export type Operand = (limb: number) => Code;

export interface Product {
  readonly left: Operand;
  readonly right: Operand;
}

export interface Addend {
  readonly value: Operand;
  readonly negative?: boolean | undefined;
}

/** The steps that reduce the sum of products to [0, p). */
export interface Reduction {
  readonly addends?: readonly Addend[] | undefined;
  /** Multiples of the modulus to add, so that the value is not negative. */
  readonly bias: number;
  /** Multiples of the modulus to subtract if the value is not below them, largest first; then it is below the modulus. */
  readonly steps: readonly number[];
}
