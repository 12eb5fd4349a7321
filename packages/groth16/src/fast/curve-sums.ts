/**
 * The sums of products in an affine addition, each reduced once. In Fq2 = Fq[i]/(i^2 + 1) a product's parts are
 * a0·b0 - a1·b1 and a0·b1 + a1·b0, so that reducing sums instead of products saves half of the reductions.
 *
 * Ranges, in units of p, with p/R = 0.378 and products (and values computed from them) within half a modulus of sum/R:
 *   G1: product so far 0.81, inverse 0.75, slope 1.07, slope^2 0.94; x from -2.94 to 0.94, y from -1.91 to 1.91
 *   G2: norm 1.26, product so far 0.96, inverse 0.85, its parts 0.83, slope 1.76, slope^2 2.84;
 *       x from -4.84 to 2.84, y from -2.84 to 2.84
 * A factor must stay below 2^255 = 2.64 p, as all factors above do.
 */
import type { Code, Local, ModuleBuilder } from "./assembler.ts";
import { PAIR_BYTES } from "./constants.ts";
import { type FieldFunctions, pairAt } from "./field-functions.ts";
import { f64x2, i32, v128 } from "./instructions.ts";
import { LIMBS } from "./limbs.ts";
import type { FieldEmitter } from "./multiply.ts";
import type { Operand, Reduction } from "./operands.ts";

/** Addresses of the parts of a coordinate: one in G1, two in G2. */
export type Parts = readonly Code[];

/** The steps of a point addition; all arguments are addresses of pairs. */
export interface Sums {
  /** dy/dx. @param inverse the inverse of dx itself (G1), or of its norm (G2); @param dx address of its parts */
  slope(out: Parts, inverse: Code, dx: Code, dy: Parts): Code;
  /** slope^2 - xa - xb, canonical. */
  x(out: Parts, slope: Parts, xa: Parts, xb: Parts): Code;
  /** slope·dx - ya, canonical. */
  y(out: Parts, slope: Parts, dx: Parts, ya: Parts): Code;
}

export function defineSums1(module: ModuleBuilder, field: FieldEmitter, { multiply }: FieldFunctions): Sums {
  const [x, y] = [
    defineSum(module, field, "x1", 1, 2, { bias: 3, steps: [2, 1] }),
    defineSum(module, field, "y1", 1, 1, { bias: 2, steps: [2, 1] }),
  ];
  const only = ([part]: Parts): Code => part as Code;
  return {
    slope: (out, inverse, _, dy) => multiply(only(out), inverse, only(dy)),
    x: (out, slope, xa, xb) => x(only(out), only(slope), only(slope), only(xa), only(xb)),
    y: (out, slope, dx, ya) => y(only(out), only(slope), only(dx), only(ya)),
  };
}

export function defineSums2(module: ModuleBuilder, field: FieldEmitter, { multiply }: FieldFunctions): Sums {
  const sum = defineSum(module, field, "sum2", 2, 0);
  const x = defineSum(module, field, "x2", 2, 2, { bias: 5, steps: [4, 2, 1] });
  const y = defineSum(module, field, "y2", 2, 1, { bias: 3, steps: [4, 2, 1] });
  const two = (parts: Parts): [Code, Code] => [parts[0] as Code, parts[1] as Code];
  const [e0, e1, minus] = [field.pool.scratch(), field.pool.scratch(), field.pool.scratch()].map((address) =>
    i32.const(address),
  ) as [Code, Code, Code];
  // A difference of products is a sum with one factor negated beforehand: V8 optimizes each function on its own.
  const negate = (to: Code, from: Code): Code => copy(to, (limb) => f64x2.neg(pairAt(from)(limb)));
  return {
    slope: (out, inverse, dx, dy) => {
      const [out0, out1] = two(out);
      const [dy0, dy1] = two(dy);
      // 1/(d0 + d1·i) = (d0 - d1·i)/norm.
      return [
        multiply(e0, dx, inverse),
        multiply(e1, i32.add(dx, i32.const(PAIR_BYTES)), inverse),
        sum(out0, e0, dy0, e1, dy1),
        negate(minus, e1),
        sum(out1, e0, dy1, minus, dy0),
      ];
    },
    x: (out, slope, xa, xb) => {
      const [s0, s1] = two(slope);
      return [
        negate(minus, s1),
        x(...[out[0] as Code, s0, s0, minus, s1, xa[0] as Code, xb[0] as Code]),
        x(...[out[1] as Code, s0, s1, s1, s0, xa[1] as Code, xb[1] as Code]),
      ];
    },
    y: (out, slope, dx, ya) => {
      const [s0, s1] = two(slope);
      const [d0, d1] = two(dx);
      return [
        negate(minus, s1),
        y(...[out[0] as Code, s0, d0, minus, d1, ya[0] as Code]),
        y(...[out[1] as Code, s0, d1, s1, d0, ya[1] as Code]),
      ];
    },
  };
}

/** norm(out, d): d0^2 + d1^2 of two consecutive pairs. */
export function defineNorm(module: ModuleBuilder, field: FieldEmitter): (out: Code, d: Code) => Code {
  return module.define("norm", ["i32", "i32"], (f) => {
    const [out, d] = f.params as [Local, Local];
    const parts = [0, PAIR_BYTES].map((offset) => ({ left: pairAt(d.get, offset), right: pairAt(d.get, offset) }));
    return field.multiply(f, out.get, parts);
  });
}

/** name(out, a, b, [c, d,] [u, [v]]) = (a·b + c·d)/R - u - v. */
function defineSum(
  module: ModuleBuilder,
  field: FieldEmitter,
  name: string,
  products: 1 | 2,
  addends: number,
  reduction?: Reduction,
): (...args: Code[]) => Code {
  const count = 1 + 2 * products + addends;
  return module.define(
    name,
    Array.from({ length: count }, () => "i32" as const),
    (f) => {
      const [out, ...operands] = f.params.map(({ get }) => get) as [Code, ...Code[]];
      const pairs = operands.map((address) => pairAt(address));
      const terms = Array.from({ length: products }, (_, index) => ({
        left: pairs[2 * index] as Operand,
        right: pairs[2 * index + 1] as Operand,
      }));
      const subtracted = pairs.slice(2 * products).map((value) => ({ value, negative: true }));
      return field.multiply(f, out, terms, reduction && { ...reduction, addends: subtracted });
    },
  );
}

/** Writes the limbs of an operand to a pair. */
export function copy(to: Code, from: Operand, offset = 0): Code {
  return Array.from({ length: LIMBS }, (_, limb) => v128.store(to, from(limb), offset + 16 * limb));
}

export function difference(to: Code, left: (limb: number) => Code, right: (limb: number) => Code): Code {
  return copy(to, (limb) => f64x2.sub(left(limb), right(limb)));
}
