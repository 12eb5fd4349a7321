/** How the field emitter computes products of limbs; its header explains high and low parts. */
import type { Code, FunctionBuilder, Local } from "./assembler.ts";
import type { ConstantPool } from "./constants.ts";
import { f64x2, i32, v128 } from "./instructions.ts";

export const HIGH = 3 * 2 ** 102;
export const LOW = 3 * 2 ** 51;

/** A factor of a product of limbs. */
export interface Factor {
  readonly value: Code;
  /** Its halves, if products are computed from halves; else no code. */
  readonly high: Code;
  readonly low: Code;
}

/** A factor that can be set. */
export interface Variable extends Factor {
  readonly set: (value: Code) => Code;
}

/** The constants that round a product to its high part, and that leave its low part. */
export interface Rounding {
  readonly toHigh: Code;
  readonly toLow: Code;
}

/** Computes high parts and low parts of products. */
export interface Parts {
  /** Sets `high` to the high part of the product plus 3·2^102. */
  setHigh(high: Local, left: Factor, right: Factor): Code;
  /** The low part of the product that `setHigh` computed last, plus nothing or 3·2^51. */
  low(high: Local, left: Factor, right: Factor, plus: "nothing" | "low constant"): Code;
}

export interface LimbProducts {
  variables(f: FunctionBuilder, count: number): Variable[];
  constant(value: number): Factor;
  parts(f: FunctionBuilder, rounding: Rounding): Parts;
}

export type MakeProducts = (pool: ConstantPool) => LimbProducts;

/** The code of a constant double in both lanes. */
export const doubleOf = (pool: ConstantPool, value: number): Code => v128.load(i32.const(0), pool.double(value));

/** Products by fused multiply-add. */
export const fusedProducts: MakeProducts = (pool) => ({
  variables: (f, count) =>
    f.locals("v128", count).map(({ get, set }) => ({ value: get, high: [], low: [], set: (from) => set(from) })),
  constant: (value) => ({ value: doubleOf(pool, value), high: [], low: [] }),
  parts: (_, { toHigh, toLow }) => ({
    setHigh: (high, left, right) => high.set(f64x2.madd(left.value, right.value, toHigh)),
    low: (high, left, right, plus) =>
      f64x2.madd(left.value, right.value, f64x2.sub(plus === "nothing" ? toHigh : toLow, high.get)),
  }),
});
