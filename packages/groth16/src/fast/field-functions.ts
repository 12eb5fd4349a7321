/** The functions of every kernel, on pairs in memory. */
import type { Code, FunctionBuilder, Local, ModuleBuilder } from "./assembler.ts";
import { f64x2, i32, i64, i64x2, increase, loop, v128 } from "./instructions.ts";
import { LIMBS } from "./limbs.ts";
import type { FieldEmitter } from "./multiply.ts";
import type { Operand } from "./operands.ts";

/** A pair at an address, as an operand. */
export function pairAt(address: Code, offset = 0): Operand {
  return (limb) => v128.load(address, offset + 16 * limb);
}

/** Loads two separately stored elements (40 bytes each) as the two lanes. */
export function lanesAt(first: Code, second: Code, offset = 0): Operand {
  return (limb) => v128.loadHigh(second, offset + 8 * limb, v128.loadLow(first, offset + 8 * limb));
}

/** Stores a pair's lanes as two separate elements. */
export function scatter(pair: Operand, first: Code, second: Code, offset = 0): Code {
  return Array.from({ length: LIMBS }, (_, limb) => [
    v128.storeLane(0, first, offset + 8 * limb, pair(limb)),
    v128.storeLane(1, second, offset + 8 * limb, pair(limb)),
  ]);
}

/** Converts a canonical pair to 64-bit words: the code that prepares them, and then each word of both lanes. */
export function toWords(f: FunctionBuilder, field: FieldEmitter, pair: Operand): { code: Code; words: Code[] } {
  const two52 = v128.load(i32.const(0), field.pool.double(2 ** 52));
  const limbs = f.locals("v128", LIMBS);
  const limb = (index: number): Code => (limbs[index] as Local).get;
  return {
    code: limbs.map((local, index) => local.set(v128.xor(f64x2.add(pair(index), two52), two52))),
    // Limb i is bits 51i to 51i + 51: word w starts 13·w bits into limb w, and limb w + 1 continues after its remaining
    // 51 - 13·w bits.
    words: Array.from({ length: 4 }, (_, word) =>
      v128.or(i64x2.shrU(limb(word), 13 * word), i64x2.shl(limb(word + 1), 51 - 13 * word)),
    ),
  };
}

/** Lane 0 of a canonical pair as four 64-bit words. */
export function pack(f: FunctionBuilder, field: FieldEmitter, pair: number, out: Code): Code {
  const { code, words } = toWords(f, field, pairAt(i32.const(pair)));
  return [code, words.map((word, index) => v128.storeLane(0, out, 8 * index, word))];
}

/** Calls of the functions that `defineField` defines. */
export interface FieldFunctions {
  /** out = a·b/R as doubles; out may be one of the operands. */
  readonly multiply: (out: Code, a: Code, b: Code) => Code;
  /**
   * out = 1/a for both lanes in Montgomery form, by Fermat; out and a must be different addresses. The inverse of 0 is
   * 0.
   */
  readonly invert: (out: Code, a: Code) => Code;
}

/** Defines `multiply`, `invert` and `import`. */
export function defineField(module: ModuleBuilder, field: FieldEmitter): FieldFunctions {
  const multiply = module.define("multiply", ["i32", "i32", "i32"], (f) => {
    const [out, a, b] = f.params as [Local, Local, Local];
    return field.multiply(f, out.get, [{ left: pairAt(a.get), right: pairAt(b.get) }]);
  }) as FieldFunctions["multiply"];

  const invert = module.define("invert", ["i32", "i32"], (f) => {
    const [out, a] = f.params as [Local, Local];
    const bits = (field.modulus - 2n).toString(2).slice(1);
    const copy = Array.from({ length: LIMBS }, (_, limb) =>
      v128.store(out.get, v128.load(a.get, 16 * limb), 16 * limb),
    );
    const steps = Array.from(bits, (bit) => [
      multiply(out.get, out.get, out.get),
      bit === "1" ? multiply(out.get, out.get, a.get) : [],
    ]);
    return [copy, steps];
  });

  defineImport(module, field);
  return { multiply, invert };
}

/**
 * import(from, to, count, factor): numbers of 32 bytes, little-endian, to canonical elements of five doubles, times the
 * factor (a pair) and divided by R: one pass changes both the representation and the Montgomery factor.
 */
function defineImport(module: ModuleBuilder, field: FieldEmitter): void {
  const raw = field.pool.scratch();
  const done = field.pool.scratch();
  module.define("import", ["i32", "i32", "i32", "i32"], (f) => {
    const [from, to, count, factor] = f.params as [Local, Local, Local, Local];
    const end = f.local("i32");
    const word = (index: number): Code => i64.load(from.get, 8 * index);
    const mask = i64.const((1n << 51n) - 1n);
    const shift = (value: Code, bits: number): Code =>
      bits >= 0 ? i64.shrU(value, i64.const(BigInt(bits))) : i64.shl(value, i64.const(BigInt(-bits)));
    // Limb i is bits 51i to 51i + 51, which start in word 51i / 64.
    const limbs = Array.from({ length: LIMBS }, (_, limb) => {
      const [start, offset] = [Math.floor((51 * limb) / 64), (51 * limb) % 64];
      const low = shift(word(start), offset);
      const both = offset > 13 && start < 3 ? i64.or(low, shift(word(start + 1), offset - 64)) : low;
      const value = i64.and(both, mask);
      // f64.convert_i64_u, then f64.store into lane 0.
      return [i32.const(0), value, 0xba, 0x39, 3, ...address(raw + 16 * limb)];
    });
    const product = [{ left: pairAt(i32.const(0), raw), right: pairAt(factor.get) }];
    return [
      end.set(i32.add(from.get, i32.shl(count.get, i32.const(5)))),
      loop(
        i32.ltU(from.get, end.get),
        limbs,
        field.multiply(f, i32.const(done), product, { bias: 1, steps: [1] }),
        Array.from({ length: LIMBS }, (_, limb) =>
          v128.storeLane(0, to.get, 8 * limb, v128.load(i32.const(0), done + 16 * limb)),
        ),
        increase(from, 32),
        increase(to, 8 * LIMBS),
      ),
    ];
  });
}

function address(offset: number): number[] {
  const bytes: number[] = [];
  for (let rest = offset; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) | 0x80);
  }
}
