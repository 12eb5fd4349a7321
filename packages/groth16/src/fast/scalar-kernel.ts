/**
 * The kernel over the scalar field: from the witness to the scalars of H. Lane 0 holds the polynomial A, lane 1 the
 * polynomial B; the same transforms apply to both.
 */

import { assembleKernel, type Write } from "./assemble-kernel.ts";
import type { Code, Local, ModuleBuilder } from "./assembler.ts";
import { PAIR_BYTES } from "./constants.ts";
import { defineField, lanesAt, pack, pairAt } from "./field-functions.ts";
import { i32, increase, loop, v128 } from "./instructions.ts";
import type { KernelCode } from "./kernel.ts";
import { ROW_STEP_BYTES } from "./layout.ts";
import type { MakeProducts } from "./limb-products.ts";
import { LIMBS } from "./limbs.ts";
import { defineMatrices } from "./matrix-kernel.ts";
import type { FieldEmitter } from "./multiply.ts";
import { defineTransforms } from "./ntt-kernel.ts";
import type { Operand } from "./operands.ts";

export function assembleScalarKernel(modulus: bigint, makeProducts?: MakeProducts): KernelCode {
  const write: Write = (module, field) => {
    defineField(module, field);
    defineRows(module, field);
    defineProducts(module, field);
    defineFinish(module, field);
    defineTransforms(module, field);
    defineMatrices(module);
  };
  return assembleKernel(modulus, write, makeProducts);
}

/**
 * rows(program, counts, end, out): for each count (32 bits each, up to the address `end`) runs that many steps of the
 * program and stores the two sums of coefficient·element/R.
 */
function defineRows(module: ModuleBuilder, field: FieldEmitter): void {
  const sum = field.pool.scratch();
  module.define("rows", ["i32", "i32", "i32", "i32"], (f) => {
    const [program, counts, end, out] = f.params as [Local, Local, Local, Local];
    const [left, a, b, c, d] = f.locals("i32", 5) as [Local, Local, Local, Local, Local];
    const product = { left: lanesAt(a.get, c.get), right: lanesAt(b.get, d.get) };
    const addends = [{ value: pairAt(i32.const(0), sum) }];
    return loop(
      i32.ltU(counts.get, end.get),
      store(i32.const(sum), () => zero(field)),
      left.set(i32.load(counts.get)),
      loop(
        left.get,
        [a, b, c, d].map((local, index) => local.set(i32.load(program.get, 4 * index))),
        field.multiply(f, i32.const(sum), [product], { addends, bias: 1, steps: [2, 1] }),
        increase(program, ROW_STEP_BYTES),
        increase(left, -1),
      ),
      store(out.get, pairAt(i32.const(0), sum)),
      increase(counts, 4),
      increase(out, PAIR_BYTES),
    );
  });
}

/** products(ab, end, out): A·B/R in both lanes. */
function defineProducts(module: ModuleBuilder, field: FieldEmitter): void {
  module.define("products", ["i32", "i32", "i32"], (f) => {
    const [ab, end, out] = f.params as [Local, Local, Local];
    const product = { left: pairAt(ab.get), right: swapped(ab.get) };
    return loop(
      i32.ltU(ab.get, end.get),
      field.multiply(f, out.get, [product], { bias: 1, steps: [1] }),
      increase(ab, PAIR_BYTES),
      increase(out, PAIR_BYTES),
    );
  });
}

/** finish(ab, end, c, out): A·B/R - C, divided by R, as 32 bytes little-endian. `out` may be `ab`. */
function defineFinish(module: ModuleBuilder, field: FieldEmitter): void {
  const [value, plain] = [field.pool.scratch(), field.pool.scratch()];
  const one = field.pool.pair(1n);
  module.define("finish", ["i32", "i32", "i32", "i32"], (f) => {
    const [ab, end, c, out] = f.params as [Local, Local, Local, Local];
    const product = { left: pairAt(ab.get), right: swapped(ab.get) };
    const addends = [{ value: pairAt(c.get), negative: true }];
    const toPlain = { left: pairAt(i32.const(0), value), right: pairAt(i32.const(0), one) };
    return loop(
      i32.ltU(ab.get, end.get),
      field.multiply(f, i32.const(value), [product], { addends, bias: 2, steps: [2, 1] }),
      field.multiply(f, i32.const(plain), [toPlain], { bias: 1, steps: [1] }),
      pack(f, field, plain, out.get),
      increase(ab, PAIR_BYTES),
      increase(c, PAIR_BYTES),
      increase(out, 32),
    );
  });
}

function swapped(address: Code): Operand {
  return (limb) => v128.swap(v128.load(address, 16 * limb));
}

function zero(field: FieldEmitter): Code {
  return v128.load(i32.const(0), field.pool.double(0));
}

function store(to: Code, from: Operand): Code {
  return Array.from({ length: LIMBS }, (_, limb) => v128.store(to, from(limb), 16 * limb));
}
