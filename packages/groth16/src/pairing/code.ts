/**
 * The code of the pairing's kernel. In a built package, build.ts replaces this module with one that has the same exports and the
 * assembled bytes.
 */
import { type Code, type Local, ModuleBuilder } from "../fast/assembler.ts";
import { i32, i64, increase, loop, when } from "../fast/instructions.ts";
import { BASE_FIELD_ORDER as q } from "../proof/orders.ts";
import { defineFields, type FieldCode } from "./field.ts";
import { copy } from "./formula.ts";
import { ELEMENT_BYTES, LIMB_BITS, LIMBS } from "./limbs.ts";
import { Layout, SCRATCH_START } from "./memory.ts";
import { definePairing, ENTRY_BYTES, LINES_BYTES } from "./pairing.ts";
import { B, TWIST_B } from "./parameters.ts";
import { definePoints } from "./points.ts";
import { definePairs, defineTower } from "./tower.ts";

/** The kernel before it is compiled. */
export interface PairingCode {
  /** A WebAssembly module. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Written to address 0. */
  readonly constants: Uint8Array<ArrayBuffer>;
  /** The first address that the kernel does not use. */
  readonly end: number;
  /** The first address that is not a constant. */
  readonly start: number;
  /** Size of the lines of a prepared point of G2, and of an entry of a Miller loop. */
  readonly linesBytes: number;
  readonly entryBytes: number;
}

/** Assembles the kernel. */
export function pairingCode(): PairingCode {
  const [module, layout] = [new ModuleBuilder(), new Layout()];
  const fields = defineFields(module);
  defineWords(module, fields.one, layout);
  const invert = defineInverse(module, fields.one, layout);
  const pairs = definePairs(module, layout, fields.one, invert);
  definePoints(module, layout, fields.one, invert, i32.const(layout.constant(B)));
  const twist = i32.const(layout.constant(...TWIST_B));
  const points = definePoints(module, layout, fields.two, pairs.invert, twist);
  definePairing(module, layout, fields.two, pairs, defineTower(module, layout, fields.two, pairs), points);
  return {
    ...{ bytes: module.build(), constants: layout.constants(), start: SCRATCH_START, end: layout.end },
    ...{ linesBytes: LINES_BYTES, entryBytes: ENTRY_BYTES },
  };
}

/** Defines invert1(out, a): a^(q - 2) for an element that is not `out`; the inverse of 0 is 0. */
function defineInverse(module: ModuleBuilder, { multiply, square }: FieldCode, layout: Layout) {
  // The exponent's bits from the highest on, without the first one, 32 in each word.
  const bits = (q - 2n).toString(2).slice(1);
  const words = Array.from({ length: Math.ceil(bits.length / 32) }, (_, word) =>
    BigInt.asIntN(32, BigInt(`0b${bits.slice(32 * word, 32 * word + 32).padEnd(32, "0")}`)),
  );
  const exponent = layout.raw(words);
  return module.define("invert1", ["i32", "i32"], (f) => {
    const [out, a] = f.params as [Local, Local];
    const [index, word] = f.locals("i32", 2) as [Local, Local];
    return [
      copy(out.get, a.get, ELEMENT_BYTES),
      loop(
        i32.ltU(index.get, i32.const(bits.length)),
        when(
          i32.eq(i32.and(index.get, i32.const(31)), i32.const(0)),
          word.set(i32.load(i32.shl(i32.shrU(index.get, i32.const(5)), i32.const(2)), exponent)),
        ),
        square(out.get, out.get),
        when(i32.ltS(word.get, i32.const(0)), multiply(out.get, out.get, a.get)),
        word.set(i32.shl(word.get, i32.const(1))),
        increase(index, 1),
      ),
    ];
  });
}

/**
 * Defines import(to, from, count, factor): numbers of 32 bytes, little-endian, times the factor and divided by R; and
 * export(to, from, count), which removes R: the results are small, so that a reader has to reduce them modulo q.
 */
function defineWords(module: ModuleBuilder, { multiply }: FieldCode, layout: Layout): void {
  const raw = layout.scratch(ELEMENT_BYTES);
  const one = i32.const(layout.raw([1n, ...new Array<bigint>(LIMBS - 1).fill(0n)]));
  module.define("import", ["i32", "i32", "i32", "i32"], (f) => {
    const [to, from, count, factor] = f.params as [Local, Local, Local, Local];
    const end = f.local("i32");
    const bits = Number(LIMB_BITS);
    // Limbs from 0 to 2^29 - 1 have the weight 2. The number is below 5.3 q, so that its product with the factor adds less than
    // 5.3·0.6/169 q = 0.02 q to half of q: it is small.
    const limbs = Array.from({ length: LIMBS }, (_, limb): Code => {
      const [word, offset] = [Math.floor((bits * limb) / 64), (bits * limb) % 64];
      const low = i64.shrU(i64.load(from.get, 8 * word), i64.const(BigInt(offset)));
      const both =
        offset > 64 - bits && word < 3
          ? i64.or(low, i64.shl(i64.load(from.get, 8 * word + 8), i64.const(BigInt(64 - offset))))
          : low;
      return i64.store32(i32.const(0), i64.and(both, i64.const((1n << LIMB_BITS) - 1n)), raw + 4 * limb);
    });
    return [
      end.set(i32.add(from.get, i32.shl(count.get, i32.const(5)))),
      loop(
        i32.ltU(from.get, end.get),
        limbs,
        multiply(to.get, i32.const(raw), factor.get),
        increase(from, 32),
        increase(to, ELEMENT_BYTES),
      ),
    ];
  });
  module.define("export", ["i32", "i32", "i32"], (f) => {
    const [to, from, count] = f.params as [Local, Local, Local];
    return loop(
      count.get,
      multiply(to.get, from.get, one),
      increase(count, -1),
      increase(from, ELEMENT_BYTES),
      increase(to, ELEMENT_BYTES),
    );
  });
}
