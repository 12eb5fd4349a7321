/** What the field emitter works on. */
import type { Code } from "./assembler.ts";

/** How one limb of an operand is loaded, both lanes. Limbs are integers between -2^51 and 2^51. */
export type Operand = (limb: number) => Code;

export interface Product {
  readonly left: Operand;
  readonly right: Operand;
  readonly negative?: boolean;
}

export interface Addend {
  readonly value: Operand;
  readonly negative?: boolean;
}

/** What is done with the sum of products: kept as doubles, or brought into [0, p). */
export interface Reduction {
  readonly addends?: readonly Addend[];
  /** Multiples of the modulus to add, so that the value is not negative. */
  readonly bias: number;
  /** Then subtracted where they fit, largest first; afterwards the value is below the modulus. */
  readonly steps: readonly number[];
}
