/** Number-theoretic transforms of pairs: decimation in frequency, then in time for the inverse, so that nothing is permuted. */
import type { Code, Local, ModuleBuilder } from "./assembler.ts";
import { PAIR_BYTES } from "./constants.ts";
import { pairAt } from "./field-functions.ts";
import { f64x2, i32, increase, loop, v128 } from "./instructions.ts";
import { TABLE_BYTES } from "./layout.ts";
import { LIMBS } from "./limbs.ts";
import type { FieldEmitter } from "./multiply.ts";
import type { Operand } from "./operands.ts";

export function defineTransforms(module: ModuleBuilder, field: FieldEmitter): void {
  defineStage(module, field, "frequency");
  defineStage(module, field, "time");
  defineScale(module, field);
  definePowers(module, field);
}

/**
 * stageFrequency and stageTime(data, end, half, table, stride): the butterflies of blocks of 2·half bytes.
 * Frequency: (u, v) -> (u + v, (u - v)·w). Time: (u, v) -> (u + v·w, u - v·w). w runs through the table in strides.
 */
function defineStage(module: ModuleBuilder, field: FieldEmitter, decimation: "frequency" | "time"): void {
  const temporary = i32.const(field.pool.scratch());
  const name = decimation === "frequency" ? "stageFrequency" : "stageTime";
  module.define(name, ["i32", "i32", "i32", "i32", "i32"], (f) => {
    const [data, end, half, table, stride] = f.params as [Local, Local, Local, Local, Local];
    const [stop, root, other] = f.locals("i32", 3) as [Local, Local, Local];
    const [u, v, w] = [pairAt(data.get), pairAt(other.get), splatAt(root.get)];
    const sum = (to: Code, added: Operand): Code =>
      field.sum(f, to, { addends: [{ value: u }, { value: added }], bias: 0, steps: [1] });
    const difference = (to: Code, taken: Operand): Code =>
      field.sum(f, to, { addends: [{ value: u }, { value: taken, negative: true }], bias: 1, steps: [1] });
    const times = (to: Code, left: Operand): Code =>
      field.multiply(f, to, [{ left, right: w }], { bias: 1, steps: [1] });
    const kept = pairAt(temporary);
    const butterfly =
      decimation === "frequency"
        ? [
            Array.from({ length: LIMBS }, (_, limb) => v128.store(temporary, f64x2.sub(u(limb), v(limb)), 16 * limb)),
            sum(data.get, v),
            times(other.get, kept),
          ]
        : [times(temporary, v), difference(other.get, kept), sum(data.get, kept)];
    return loop(
      i32.ltU(data.get, end.get),
      stop.set(i32.add(data.get, half.get)),
      root.set(table.get),
      loop(
        i32.ltU(data.get, stop.get),
        other.set(i32.add(data.get, half.get)),
        butterfly,
        increase(data, PAIR_BYTES),
        root.set(i32.add(root.get, stride.get)),
      ),
      data.set(i32.add(data.get, half.get)),
    );
  });
}

/** scale(data, end, table): each pair times its element of the table. */
function defineScale(module: ModuleBuilder, field: FieldEmitter): void {
  module.define("scale", ["i32", "i32", "i32"], (f) => {
    const [data, end, table] = f.params as [Local, Local, Local];
    const product = { left: pairAt(data.get), right: splatAt(table.get) };
    return loop(
      i32.ltU(data.get, end.get),
      field.multiply(f, data.get, [product], { bias: 1, steps: [1] }),
      increase(data, PAIR_BYTES),
      increase(table, TABLE_BYTES),
    );
  });
}

/**
 * powers(value, factor, table, end): fills a table with value, value·factor, ...; `value` is a pair and is overwritten.
 */
function definePowers(module: ModuleBuilder, field: FieldEmitter): void {
  module.define("powers", ["i32", "i32", "i32", "i32"], (f) => {
    const [value, factor, table, end] = f.params as [Local, Local, Local, Local];
    const product = { left: pairAt(value.get), right: pairAt(factor.get) };
    return loop(
      i32.ltU(table.get, end.get),
      Array.from({ length: LIMBS }, (_, limb) =>
        v128.storeLane(0, table.get, 8 * limb, v128.load(value.get, 16 * limb)),
      ),
      field.multiply(f, value.get, [product], { bias: 1, steps: [1] }),
      increase(table, TABLE_BYTES),
    );
  });
}

function splatAt(address: Code): Operand {
  return (limb) => v128.loadSplat(address, 8 * limb);
}
