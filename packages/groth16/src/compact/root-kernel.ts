/**
 * Finds y for the x-coordinates of points, four at a time. Because p = 3 mod 4, a root of a square n is n·n^((p - 3)/4).
 *
 * In Fq2 = Fq[i]/(i^2 + 1), a root of a = a0 + a1·i takes two powers. Let s^2 = a0^2 + a1^2, u = (a0 + s)/2,
 * w = u^((p - 3)/4), v = u·w and d = (a1/2)·w. Then e = v·w = u^((p - 1)/2) is 1 or -1, v^2 = e·u, and 1/v = e·w.
 * If e = 1, v + d·i is a root; if e = -1, -d + v·i is one, because (a1/2)^2 = -u·(a0 - s)/2. If u = 0, no root is found,
 * although a may have one: then a1 = 0, and no honest setup makes such a point. Every root is squared and compared, so that an x
 * that is not on the curve is found.
 *
 * Ranges, in units of p, with p/R = 0.378 and products within half a modulus of sum/R, as in curve-sums.ts. A factor must stay
 * below 2^255 = 2.64 p.
 *   G1: x^2 from -0.5 to 0.88, x^3 from -0.84 to 0.84; y below 0.94 in absolute value, y^2 from -0.5 to 0.84
 *   G2: x^2 from -0.88 to 0.88 and from -0.5 to 1.26, x^3 from -1.31 to 1.31 and from -1.03 to 1.31; the norm below 1.26,
 *       s below 1.05, u from -0.9 to 1.28, w and v below 1.14, d below 0.94, e from -0.992 to 0.992;
 *       y^2 from -0.992 to 0.992 and from -1.49 to 1.49
 */
import { assembleKernel, type Write } from "../fast/assemble-kernel.ts";
import type { Code, FunctionBuilder, Local, ModuleBuilder } from "../fast/assembler.ts";
import { PAIR_BYTES } from "../fast/constants.ts";
import { copy } from "../fast/curve-sums.ts";
import { defineField, lanesAt, pairAt, toWords } from "../fast/field-functions.ts";
import { f64x2, i32, i64x2, increase, loop, v128 } from "../fast/instructions.ts";
import { type KernelCode, power } from "../fast/kernel.ts";
import { COORDINATE_BYTES, type Degree, SCALAR_BYTES } from "../fast/layout.ts";
import type { MakeProducts } from "../fast/limb-products.ts";
import { LIMBS, MONTGOMERY_BITS } from "../fast/limbs.ts";
import type { FieldEmitter } from "../fast/multiply.ts";
import type { Operand, Product, Reduction } from "../fast/operands.ts";
import { FILE_MONTGOMERY_BITS } from "../fast/zkey.ts";
import { minus, newFrame, SLOT, slotOf, square } from "./root-frame.ts";
import { definePower } from "./root-power.ts";

/** The kernel over the base field. */
export function assembleRootKernel(modulus: bigint, makeProducts?: MakeProducts): KernelCode {
  const write: Write = (module, field) => {
    defineField(module, field);
    const frames = [newFrame(field), newFrame(field)] as const;
    const tools = { module, field, wrong: field.pool.scratch() };
    const raise = definePower(module, field, frames);
    defineRoots(tools, frames, 1, defineSolve1(tools, frames, raise));
    defineRoots(tools, frames, 2, defineSolve2(tools, frames, raise));
  };
  return assembleKernel(modulus, write, makeProducts);
}

interface Tools {
  readonly module: ModuleBuilder;
  readonly field: FieldEmitter;
  /** Address of a vector with ones where the square of a root is not what it should be. */
  readonly wrong: number;
}

/** A number below the modulus, or above its negative, as a constant in Montgomery form. */
function constant({ modulus, pool }: FieldEmitter, value: bigint): Operand {
  const address = pool.pair((((value + modulus) % modulus) << MONTGOMERY_BITS) % modulus);
  return pairAt(i32.const(0), address);
}

/** Defines a function for a frame. @returns the code of its calls for both frames */
function define(
  { module }: Tools,
  frames: readonly number[],
  name: string,
  write: (f: FunctionBuilder, frame: Local) => Code,
): Code {
  const call = module.define(name, ["i32"], (f) => write(f, f.params[0] as Local));
  return frames.map((frame) => call(i32.const(frame)));
}

const to = (frame: Local, slot: number): Code => i32.add(frame.get, i32.const(slot * PAIR_BYTES));

/** Marks the lanes in which a sum of products differs from a canonical value. It overwrites the first temporary pair. */
function compare(
  { field, wrong }: Tools,
  f: FunctionBuilder,
  frame: Local,
  products: readonly Product[],
  reduction: Reduction,
  expected: Operand,
): Code {
  const found = slotOf(frame, SLOT.temporary);
  const any = Array.from({ length: LIMBS }, (_, limb) => v128.xor(found(limb), expected(limb))).reduce(
    (all, next) => v128.or(all, next),
    v128.load(i32.const(0), wrong),
  );
  return [field.multiply(f, to(frame, SLOT.temporary), products, reduction), v128.store(i32.const(0), any, wrong)];
}

/** y^2 = x^3 + 3 in Fq. */
function defineSolve1(tools: Tools, frames: readonly number[], raise: Code): Code {
  const { field } = tools;
  const begin = define(tools, frames, "begin1", (f, frame) => {
    const [x, x2] = [slotOf(frame, SLOT.x), slotOf(frame, SLOT.temporary)];
    const reduction = { addends: [{ value: constant(field, 3n) }], bias: 1, steps: [2, 1] };
    return [
      field.multiply(f, to(frame, SLOT.temporary), [square(x)]),
      field.multiply(f, to(frame, SLOT.right), [{ left: x2, right: x }], reduction),
      copy(to(frame, SLOT.base), slotOf(frame, SLOT.right)),
    ];
  });
  const end = define(tools, frames, "end1", (f, frame) => {
    const [right, y] = [slotOf(frame, SLOT.right), slotOf(frame, SLOT.y)];
    return [
      field.multiply(f, to(frame, SLOT.y), [{ left: slotOf(frame, SLOT.power), right }]),
      compare(tools, f, frame, [square(y)], { bias: 1, steps: [1] }, right),
    ];
  });
  return [begin, raise, end];
}

/** y^2 = x^3 + 3/(9 + i) in Fq2. */
function defineSolve2(tools: Tools, frames: readonly number[], raise: Code): Code {
  const { field } = tools;
  const { modulus } = field;
  // 1/(9 + i) = (9 - i)/82.
  const scale = (3n * power(82n, modulus - 2n, modulus)) % modulus;
  const b = [constant(field, (9n * scale) % modulus), constant(field, -scale)] as const;
  const half = constant(field, (modulus + 1n) / 2n);
  const parts = (frame: Local, slot: number) => [slotOf(frame, slot), slotOf(frame, slot + 1)] as const;
  const begin = define(tools, frames, "begin2", (f, frame) => {
    const [x0, x1] = parts(frame, SLOT.x);
    const [s0, s1] = parts(frame, SLOT.temporary);
    const [a0, a1] = parts(frame, SLOT.right);
    const reduction = (value: Operand): Reduction => ({ addends: [{ value }], bias: 2, steps: [4, 2, 1] });
    const real = [
      { left: s0, right: x0 },
      { left: minus(s1), right: x1 },
    ];
    const imaginary = [
      { left: s0, right: x1 },
      { left: s1, right: x0 },
    ];
    return [
      field.multiply(f, to(frame, SLOT.temporary), [square(x0), { left: minus(x1), right: x1 }]),
      field.multiply(f, to(frame, SLOT.temporary + 1), [
        { left: x0, right: x1 },
        { left: x1, right: x0 },
      ]),
      field.multiply(f, to(frame, SLOT.right), real, reduction(b[0])),
      field.multiply(f, to(frame, SLOT.right + 1), imaginary, reduction(b[1])),
      field.multiply(f, to(frame, SLOT.base), [square(a0), square(a1)]),
    ];
  });
  const middle = define(tools, frames, "middle2", (f, frame) => {
    const [a0] = parts(frame, SLOT.right);
    const [s] = parts(frame, SLOT.temporary);
    const norm = slotOf(frame, SLOT.base);
    return [
      field.multiply(f, to(frame, SLOT.temporary), [{ left: norm, right: slotOf(frame, SLOT.power) }]),
      field.multiply(f, to(frame, SLOT.base), [
        { left: a0, right: half },
        { left: s, right: half },
      ]),
    ];
  });
  const end = define(tools, frames, "end2", (f, frame) => {
    const [a0, a1] = parts(frame, SLOT.right);
    const [v, d] = parts(frame, SLOT.temporary);
    const [y0, y1] = parts(frame, SLOT.y);
    const [u, w, e] = [slotOf(frame, SLOT.base), slotOf(frame, SLOT.power), slotOf(frame, SLOT.y)];
    const one = constant(field, 1n);
    const isOne = f.local("v128");
    const equal = Array.from({ length: LIMBS }, (_, limb) => f64x2.eq(e(limb), one(limb)));
    const real = [square(y0), { left: minus(y1), right: y1 }];
    const imaginary = [
      { left: y0, right: y1 },
      { left: y1, right: y0 },
    ];
    return [
      field.multiply(f, to(frame, SLOT.temporary), [{ left: u, right: w }]),
      // a1/2 is where y will be.
      field.multiply(f, to(frame, SLOT.y), [{ left: a1, right: half }]),
      field.multiply(f, to(frame, SLOT.temporary + 1), [{ left: y0, right: w }]),
      field.multiply(f, to(frame, SLOT.y), [{ left: v, right: w }], { bias: 1, steps: [1] }),
      isOne.set(equal.reduce((all, next) => v128.and(all, next))),
      copy(to(frame, SLOT.y), (limb) => v128.select(v(limb), minus(d)(limb), isOne.get)),
      copy(to(frame, SLOT.y + 1), (limb) => v128.select(d(limb), v(limb), isOne.get)),
      compare(tools, f, frame, real, { bias: 1, steps: [1] }, a0),
      compare(tools, f, frame, imaginary, { bias: 2, steps: [2, 1] }, a1),
    ];
  });
  return [begin, raise, middle, raise, end];
}

/**
 * roots1 and roots2(numbers, elements, signs, points, end) -> 1 if all points are on the curve. `numbers` are the x-coordinates
 * as in a key's file, up to the address `end`, a multiple of four points; `elements` are the same, imported; `signs` are 64 bits
 * for each point, of which the highest is set if the first part of y is odd in the file. Writes the points as in the file.
 */
function defineRoots(tools: Tools, frames: readonly number[], degree: Degree, solve: Code): void {
  const { module, field, wrong } = tools;
  const write = definePoints(tools, degree);
  const zero = constant(field, 0n);
  module.define(
    `roots${degree}`,
    ["i32", "i32", "i32", "i32", "i32"],
    (f) => {
      const [numbers, elements, signs, points, end] = f.params as [Local, Local, Local, Local, Local];
      const size = degree * COORDINATE_BYTES;
      const load = frames.map((frame, pair) =>
        Array.from({ length: degree }, (_, part) => {
          const x = lanesAt(
            elements.get,
            i32.add(elements.get, i32.const(size)),
            2 * pair * size + part * COORDINATE_BYTES,
          );
          return copy(i32.const(frame + (SLOT.x + part) * PAIR_BYTES), x);
        }),
      );
      const store = frames.map((frame) => [
        write(i32.const(frame), numbers.get, signs.get, points.get),
        increase(numbers, 2 * degree * SCALAR_BYTES),
        increase(signs, 16),
        increase(points, 4 * degree * SCALAR_BYTES),
      ]);
      return [
        v128.store(i32.const(0), zero(0), wrong),
        loop(i32.ltU(numbers.get, end.get), load, solve, store, increase(elements, 4 * size)),
        i32.eq(v128.anyTrue(v128.load(i32.const(0), wrong)), i32.const(0)),
      ];
    },
    ["i32"],
  );
}

/** points1 and points2(frame, numbers, signs, points): writes the two points of a frame, with the y of each that its sign asks for. */
function definePoints(
  { module, field }: Tools,
  degree: Degree,
): (frame: Code, numbers: Code, signs: Code, points: Code) => Code {
  const zero = constant(field, 0n);
  // As in `exportPoints`: they include the kernel's R, by which the product is divided.
  const factor = pairAt(i32.const(0), field.pool.pair((1n << FILE_MONTGOMERY_BITS) % field.modulus));
  return module.define(`points${degree}`, ["i32", "i32", "i32", "i32"], (f) => {
    const [frame, numbers, signs, points] = f.params as [Local, Local, Local, Local];
    const isOther = f.local("v128");
    const size = degree * SCALAR_BYTES;
    const lanes = [0, 1] as const;
    const exported = (slot: number, y: Operand) => [
      // y is below 1.14 in absolute value, its product with the factor from -0.94 to 0.94.
      field.multiply(f, to(frame, slot), [{ left: y, right: factor }], { bias: 1, steps: [1] }),
    ];
    const x = lanes.map((lane) =>
      Array.from({ length: size / 16 }, (_, index) =>
        v128.store(points.get, v128.load(numbers.get, lane * size + 16 * index), 2 * lane * size + 16 * index),
      ),
    );
    const y = Array.from({ length: degree }, (_, part) => {
      const own = slotOf(frame, SLOT.y + part);
      const [plain, negative] = [SLOT.temporary, SLOT.temporary + 1].map((slot) =>
        toWords(f, field, slotOf(frame, slot)),
      ) as [ReturnType<typeof toWords>, ReturnType<typeof toWords>];
      const parity = i64x2.shl(plain.words[0] as Code, 63);
      return [
        exported(SLOT.temporary, own),
        exported(SLOT.temporary + 1, minus(own)),
        plain.code,
        negative.code,
        part > 0 ? [] : isOther.set(i64x2.ltS(v128.xor(parity, v128.load(signs.get)), zero(0))),
        plain.words.map((word, index) => {
          const chosen = v128.select(negative.words[index] as Code, word, isOther.get);
          const offset = size + part * SCALAR_BYTES + 8 * index;
          return lanes.map((lane) => v128.storeLane(lane, points.get, offset + 2 * lane * size, chosen));
        }),
      ];
    });
    return [x, y];
  });
}
