/**
 * Adds many pairs of affine points at once. They share one inversion (Montgomery's trick), so that an addition costs 6
 * multiplications, half of a mixed Jacobian one.
 *
 * add1 and add2(pairs, steps, out, scratch, exceptions) -> number of exceptions, for G1 and G2. `pairs` holds four
 * addresses per step, for two additions: first left, first right, second left, second right; bit 0 of an address
 * negates the point. The sums go to `out`, one after the other. Steps where a lane has equal x-coordinates or a point
 * at infinity (0, 0) are listed in `exceptions` (by step number): their sums are wrong, and the caller corrects them.
 */

import { assembleKernel, type Write } from "./assemble-kernel.ts";
import type { Code, FunctionBuilder, Local, ModuleBuilder } from "./assembler.ts";
import { defineBuckets } from "./bucket-kernel.ts";
import { PAIR_BYTES } from "./constants.ts";
import { copy, defineNorm, defineSums1, defineSums2, difference, type Parts, type Sums } from "./curve-sums.ts";
import { defineField, type FieldFunctions, lanesAt, pack, pairAt, scatter } from "./field-functions.ts";
import { f64x2, i32, increase, loop, v128, when } from "./instructions.ts";
import type { KernelCode } from "./kernel.ts";
import { COORDINATE_BYTES, type Degree, ENTRY_BYTES, pointBytes, SCALAR_BYTES, scratchBytes } from "./layout.ts";
import type { MakeProducts } from "./limb-products.ts";
import { bitsOf, MONTGOMERY_BITS } from "./limbs.ts";
import type { FieldEmitter } from "./multiply.ts";
import type { Operand } from "./operands.ts";

export function assembleCurveKernel(modulus: bigint, makeProducts?: MakeProducts): KernelCode {
  const write: Write = (module, field) => {
    const functions = defineField(module, field);
    const norm = defineNorm(module, field);
    defineAdd(module, field, functions, defineSums1(module, field, functions), { degree: 1, norm });
    defineAdd(module, field, functions, defineSums2(module, field, functions), { degree: 2, norm });
    defineBuckets(module);
    defineExport(module, field);
  };
  return assembleKernel(modulus, write, makeProducts);
}

/**
 * export(entries, end, degree, to, factor): for each entry, the address of a point whose bit 0 negates it, the parts of its
 * coordinates times the factor (a pair) and divided by R, 32 bytes each, little-endian.
 */
function defineExport(module: ModuleBuilder, field: FieldEmitter): void {
  const done = field.pool.scratch();
  // exportElements(from, end, sign, to, factor): the sign is -1 if it is 1, and 1 if it is 0.
  const elements = module.define("exportElements", ["i32", "i32", "i32", "i32", "i32"], (f) => {
    const [from, end, sign, to, factor] = f.params as [Local, Local, Local, Local, Local];
    const factorOfSign = v128.load(i32.shl(sign.get, i32.const(4)), signTable(field));
    const left: Operand = (limb) => f64x2.mul(v128.loadSplat(from.get, 8 * limb), factorOfSign);
    return loop(
      i32.ltU(from.get, end.get),
      field.multiply(f, i32.const(done), [{ left, right: pairAt(factor.get) }], { bias: 1, steps: [1] }),
      pack(f, field, done, to.get),
      increase(from, COORDINATE_BYTES),
      increase(to, SCALAR_BYTES),
    );
  });
  module.define("export", ["i32", "i32", "i32", "i32", "i32"], (f) => {
    const [entries, end, degree, to, factor] = f.params as [Local, Local, Local, Local, Local];
    const [entry, middle] = f.locals("i32", 2) as [Local, Local];
    const coordinate = i32.mul(degree.get, i32.const(COORDINATE_BYTES));
    const x = i32.and(entry.get, i32.const(-2));
    const sign = i32.and(entry.get, i32.const(1));
    const exported = increase(to, i32.mul(degree.get, i32.const(SCALAR_BYTES)));
    return loop(
      i32.ltU(entries.get, end.get),
      entry.set(i32.load(entries.get)),
      middle.set(i32.add(x, coordinate)),
      elements(x, middle.get, i32.const(0), to.get, factor.get),
      exported,
      elements(middle.get, i32.add(middle.get, coordinate), sign, to.get, factor.get),
      exported,
      increase(entries, ENTRY_BYTES),
    );
  });
}

function defineAdd(
  module: ModuleBuilder,
  field: FieldEmitter,
  { multiply, invert }: FieldFunctions,
  sums: Sums,
  { degree, norm }: { degree: Degree; norm: (out: Code, d: Code) => Code },
): void {
  const slot = (): Code => i32.const(field.pool.scratch());
  const partwise = (): Parts => Array.from({ length: degree }, slot);
  const [product, inverse] = [slot(), slot()];
  const [xa, xb, ya, dx, dy] = [partwise(), partwise(), partwise(), partwise(), partwise()];
  const [slope, x, y] = [partwise(), partwise(), partwise()];
  const one = i32.const(field.pool.pair((1n << MONTGOMERY_BITS) % field.modulus));
  const each = (write: (part: number) => Code): Code => Array.from({ length: degree }, (_, part) => write(part));
  const at = (parts: Parts, part: number): Code => parts[part] as Code;

  const parameters = ["i32", "i32", "i32", "i32", "i32"] as const;
  const write = (f: FunctionBuilder): Code => {
    const [pairs, steps, out, scratch, exceptions] = f.params as [Local, Local, Local, Local, Local];
    const [a, b, c, d] = f.locals("i32", 4) as [Local, Local, Local, Local];
    const [index, found] = f.locals("i32", 2) as [Local, Local];
    const [suspect, factor] = f.locals("v128", 2) as [Local, Local];
    const point = (local: Local): Code => i32.and(local.get, i32.const(-2));
    const left = (coordinate: number): Operand => lanesAt(point(a), point(c), coordinate * COORDINATE_BYTES);
    const right = (coordinate: number): Operand => lanesAt(point(b), point(d), coordinate * COORDINATE_BYTES);
    const signed =
      (operand: Operand): Operand =>
      (limb) =>
        f64x2.mul(operand(limb), factor.get);
    const loadAddresses = [a, b, c, d].map((local, lane) => local.set(i32.load(pairs.get, 4 * lane)));
    const move = (direction: 1 | -1): Code => [
      increase(index, direction),
      increase(pairs, 16 * direction),
      increase(scratch, scratchBytes(degree) * direction),
      increase(out, 2 * pointBytes(degree) * direction),
    ];
    // A step's scratch memory: the parts of dx, then (G2) the norm, then the product of the previous values to invert.
    const inverted = i32.add(scratch.get, i32.const(degree === 1 ? 0 : 2 * PAIR_BYTES));
    const before = i32.add(scratch.get, i32.const(degree === 1 ? PAIR_BYTES : 3 * PAIR_BYTES));
    const dxAt = (part: number): Code => i32.add(scratch.get, i32.const(part * PAIR_BYTES));

    const forward = loop(
      i32.ltU(index.get, steps.get),
      loadAddresses,
      each((part) => difference(dxAt(part), right(part), left(part))),
      suspect.set(suspects(field, degree, scratch.get, left, right)),
      when(
        v128.anyTrue(suspect.get),
        i32.store(exceptions.get, index.get),
        increase(exceptions, 4),
        increase(found, 1),
        // Replacing the difference with 1 keeps the shared product invertible.
        v128.store(scratch.get, v128.select(vector(field, 1), v128.load(scratch.get), suspect.get)),
      ),
      degree === 1 ? [] : norm(inverted, scratch.get),
      copy(before, pairAt(product)),
      multiply(product, product, inverted),
      move(1),
    );
    const backward = loop(
      index.get,
      move(-1),
      loadAddresses,
      multiply(inverse, product, before),
      multiply(product, product, inverted),
      factor.set(signs(field, a, c)),
      each((part) => copy(at(ya, part), signed(left(degree + part)))),
      factor.set(signs(field, b, d)),
      each((part) => [
        copy(at(xa, part), left(part)),
        copy(at(xb, part), right(part)),
        // If one sign is negative, limbs of the difference are up to 2^52.
        field.carry(f, at(dy, part), (limb) =>
          f64x2.sub(signed(right(degree + part))(limb), pairAt(at(ya, part))(limb)),
        ),
      ]),
      sums.slope(slope, inverse, scratch.get, dy),
      sums.x(x, slope, xa, xb),
      each((part) => difference(at(dx, part), pairAt(at(xa, part)), pairAt(at(x, part)))),
      sums.y(y, slope, dx, ya),
      [...x, ...y].map((from, coordinate) =>
        scatter(pairAt(from), out.get, i32.add(out.get, i32.const(pointBytes(degree))), coordinate * COORDINATE_BYTES),
      ),
    );
    return [
      copy(product, pairAt(one)),
      forward,
      copy(inverse, pairAt(product)),
      invert(product, inverse),
      backward,
      found.get,
    ];
  };
  module.define(`add${degree}`, parameters, write, ["i32"]);
}

/**
 * Lanes that may be exceptions: the first limbs of x are equal, or one of them is 0, as for infinity. Coordinates are
 * canonical, so equal x are always found; limbs that are equal by chance (2^-51) only cost the caller an addition.
 */
function suspects(
  field: FieldEmitter,
  degree: Degree,
  differences: Code,
  left: (part: number) => Operand,
  right: (part: number) => Operand,
): Code {
  const zero = vector(field, 0);
  const allZero = (limb: (part: number) => Code): Code =>
    Array.from({ length: degree }, (_, part) => f64x2.eq(limb(part), zero)).reduce((all, next) => v128.and(all, next));
  return [
    allZero((part) => v128.load(differences, part * PAIR_BYTES)),
    allZero((part) => left(part)(0)),
    allZero((part) => right(part)(0)),
  ].reduce((any, next) => v128.or(any, next));
}

function vector(field: FieldEmitter, value: number): Code {
  return v128.load(i32.const(0), field.pool.double(value));
}

/** -1.0 in lanes whose address has bit 0 set, 1.0 in the others. */
function signs(field: FieldEmitter, first: Local, second: Local): Code {
  const table = signTable(field);
  const offset = (local: Local): Code => i32.shl(i32.and(local.get, i32.const(1)), i32.const(4));
  return v128.loadHigh(offset(second), table, v128.loadLow(offset(first), table));
}

/** The address of 1.0 in both lanes, and 16 bytes after it -1.0. */
function signTable(field: FieldEmitter): number {
  return field.pool.bits(bitsOf(1), bitsOf(-1));
}
