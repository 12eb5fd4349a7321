/**
 * The kernel that scans: Montgomery's ladder (1987) for two points at once, and the field functions around it. Bounds are
 * in multiples of p: a product of values below a and b is below 0.378 a·b + 0.5, because p/R is 0.378; an operand must be
 * below 2.6, so that its last limb stays below 2^51. The comments below state the bound of each value.
 */

import {
  type Code,
  compileKernel,
  defineField,
  type FieldEmitter,
  f64x2,
  i32,
  increase,
  LIMBS,
  type Local,
  loop,
  type ModuleBuilder,
  PAIR_BYTES,
  type Program,
  pairAt,
  RADIX_BITS,
  toLimbs,
  v128,
} from "@sotto/groth16/kernel";

/** Pairs of a ladder in memory: U and W of each of the two points, and u of their difference. */
export const LADDER_PAIRS = 5;
/** Bytes of a bit of the scalar: a vector of ones or zeros. */
export const BIT_BYTES = 16;

export function compileLadderKernel(modulus: bigint): Program {
  return compileKernel(modulus, (module, field) => {
    defineField(module, field);
    const sum = defineSum(module, field);
    defineDifference(module);
    defineLadder(module, field, sum);
  });
}

type BinaryCall = (out: Code, a: Code, b: Code) => Code;

/**
 * sum(out, a, b): a + b of two products, minus the multiple of p that leaves it below 0.51 p in absolute value. The limbs
 * of a + b are from 0 to 2^52, and a + b must be from -2.4 p to 4.4 p: then the multiple is from -2 to 4, and the limbs
 * that are carried are below 2^53.
 */
function defineSum(module: ModuleBuilder, field: FieldEmitter): BinaryCall {
  const double = (value: number): Code => v128.load(i32.const(0), field.pool.double(value));
  const round = double(1.5 * 2 ** 52);
  const perModulus = double(2 ** Number(RADIX_BITS * BigInt(LIMBS - 1)) / Number(field.modulus));
  const limbs = toLimbs(field.modulus);
  return module.define("sum", ["i32", "i32", "i32"], (f) => {
    const [out, a, b] = f.params as [Local, Local, Local];
    const multiple = f.local("v128");
    const [left, right] = [pairAt(a.get), pairAt(b.get)];
    const added = (limb: number): Code => f64x2.add(left(limb), right(limb));
    return [
      multiple.set(f64x2.sub(f64x2.add(f64x2.mul(added(LIMBS - 1), perModulus), round), round)),
      field.carry(f, out.get, (limb) => f64x2.madd(multiple.get, double(-(limbs[limb] ?? 0)), added(limb))),
    ];
  }) as BinaryCall;
}

/** difference(out, a, b): a - b of two products; its limbs are between -2^51 and 2^51. */
function defineDifference(module: ModuleBuilder): void {
  module.define("difference", ["i32", "i32", "i32"], (f) => {
    const [out, a, b] = f.params as [Local, Local, Local];
    return subtract(out.get, a.get, b.get);
  });
}

function subtract(out: Code, a: Code, b: Code, [from, left, right] = [0, 0, 0]): Code {
  return Array.from({ length: LIMBS }, (_, limb) =>
    v128.store(out, f64x2.sub(pairAt(a, left)(limb), pairAt(b, right)(limb)), from + 16 * limb),
  );
}

/**
 * ladder(points, end, bits, bitsEnd, a24): climbs each ladder of two lanes. A step replaces the first point with twice the
 * lower one and the second point with the sum of both. A bit is a mask that says whether the second point is the lower
 * one, so that neither addresses nor instructions depend on the scalar; after the last step, the mask at `bitsEnd` says
 * whether the points change places.
 */
function defineLadder(module: ModuleBuilder, field: FieldEmitter, sum: BinaryCall): void {
  const multiplyTwo = module.define("multiplyTwo", ["i32", "i32", "i32", "i32", "i32", "i32"], (f) => {
    const [out, a, b, out2, a2, b2] = f.params as [Local, Local, Local, Local, Local, Local];
    return field.multiplyTwo(
      f,
      { out: out.get, product: { left: pairAt(a.get), right: pairAt(b.get) } },
      { out: out2.get, product: { left: pairAt(a2.get), right: pairAt(b2.get) } },
    );
  });
  const squareTwo = module.define("squareTwo", ["i32", "i32", "i32", "i32"], (f) => {
    const [out, a, out2, a2] = f.params as [Local, Local, Local, Local];
    const [first, second] = [pairAt(a.get), pairAt(a2.get)];
    return field.multiplyTwo(
      f,
      { out: out.get, product: { left: first, right: first } },
      { out: out2.get, product: { left: second, right: second } },
    );
  });
  const slot = (): Code => i32.const(field.pool.scratch());
  const [sum0, sum1, difference0, difference1] = [slot(), slot(), slot(), slot()];
  const [lowerSum, lowerDifference] = [slot(), slot()];
  const [cross0, cross1, square0, square1, gap] = [slot(), slot(), slot(), slot(), slot()];
  const exchange = module.define("exchange", ["i32", "i32"], (f) => {
    const [points, mask] = f.params as [Local, Local];
    const [low, high, change] = f.locals("v128", 3) as [Local, Local, Local];
    return Array.from({ length: 2 * LIMBS }, (_, limb) => {
      const [at, other] = [16 * limb, 16 * limb + 2 * PAIR_BYTES];
      return [
        low.set(v128.load(points.get, at)),
        high.set(v128.load(points.get, other)),
        change.set(v128.and(v128.xor(low.get, high.get), v128.load(mask.get))),
        v128.store(points.get, v128.xor(low.get, change.get), at),
        v128.store(points.get, v128.xor(high.get, change.get), other),
      ];
    });
  });
  const select = (out: Code, first: Code, second: Code, mask: Local): Code =>
    Array.from({ length: LIMBS }, (_, limb) =>
      v128.store(out, v128.select(pairAt(second)(limb), pairAt(first)(limb), mask.get), 16 * limb),
    );
  module.define("ladder", ["i32", "i32", "i32", "i32", "i32"], (f) => {
    const [points, end, bits, bitsEnd, a24] = f.params as [Local, Local, Local, Local, Local];
    const bit = f.local("i32");
    const mask = f.local("v128");
    const at = (pair: number): Code => i32.add(points.get, i32.const(pair * PAIR_BYTES));
    const [u0, w0, u1, w1, base] = [at(0), at(1), at(2), at(3), at(4)];
    // Before and after a step, U and W are below 1, and their limbs are those of products: all but the last are at least 0,
    // so that limbs of differences are within 2^51.
    const step = [
      sum(sum0, u0, w0), // 0.51
      sum(sum1, u1, w1), // 0.51
      subtract(difference0, u0, w0), // 2
      subtract(difference1, u1, w1), // 2
      multiplyTwo(cross0, difference1, sum0, cross1, sum1, difference0), // 0.89, 0.89
      select(lowerSum, sum0, sum1, mask),
      select(lowerDifference, difference0, difference1, mask),
      squareTwo(square0, lowerSum, square1, lowerDifference), // -0.5 to 0.6, -0.5 to 2.02
      // Twice the lower point: U = s0 s1, W = (s0 - s1) (s1 + a24 (s0 - s1)).
      subtract(gap, square0, square1), // -2.52 to 1.1
      multiplyTwo(u0, square0, square1, sum0, a24.get, gap), // 0.96, 1.46
      sum(sum0, sum0, square1), // 0.51
      // The sum of both: U = (c0 + c1)^2, W = base (c0 - c1)^2.
      sum(sum1, cross0, cross1), // 0.51
      subtract(difference1, cross0, cross1), // 1.78
      squareTwo(u1, sum1, difference1, difference1), // 0.6, 1.7
      multiplyTwo(w0, gap, sum0, w1, base, difference1), // 0.99, 0.83: base is below 0.51
    ];
    return loop(
      i32.ltU(points.get, end.get),
      bit.set(bits.get),
      loop(i32.ltU(bit.get, bitsEnd.get), mask.set(v128.load(bit.get)), step, increase(bit, BIT_BYTES)),
      exchange(points.get, bitsEnd.get),
      increase(points, LADDER_PAIRS * PAIR_BYTES),
    );
  });
}
