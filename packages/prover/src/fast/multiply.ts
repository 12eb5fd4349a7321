/**
 * Montgomery multiplication of two pairs at once, in doubles. If x and y are integers below 2^51 in absolute value, one
 * fused multiply-add onto 3·2^102 rounds their product to a multiple of 2^51 (the high part h), and a second one gives
 * the remainder exactly (the low part l, between -2^50 and 2^50). Adding such constants puts h and l into the low bits
 * of the doubles, so columns are summed as 64-bit integers, and the constants are subtracted all at once. Source:
 * Emmart, Zheng, Weems, "Faster modular exponentiation using double precision floating point arithmetic on the GPU"
 * (ARITH 2018), in the variant with round-to-nearest that the ZPrize 2023 entries use.
 */
import type { Code, FunctionBuilder, Local } from "./assembler.ts";
import type { ConstantPool } from "./constants.ts";
import { f64x2, i32, i64x2, v128 } from "./instructions.ts";
import { bitsOf, LIMBS, negativeInverse, RADIX_BITS, toLimbs } from "./limbs.ts";
import type { Operand, Product, Reduction } from "./operands.ts";

const HIGH = 3 * 2 ** 102;
const LOW = 3 * 2 ** 51;
const TWO_52 = 2 ** 52;
const SHIFT = Number(RADIX_BITS);
/** Keeps columns positive while they are carried: a multiple of the radix, above any column (below 2^56). */
const BIAS = 1n << 60n;
const BIAS_CARRY = BIAS >> RADIX_BITS;

export class FieldEmitter {
  readonly modulus: bigint;
  readonly pool: ConstantPool;
  readonly #factor: number;
  readonly #limbs: readonly bigint[];

  constructor(modulus: bigint, pool: ConstantPool) {
    this.modulus = modulus;
    this.pool = pool;
    this.#factor = pool.double(Number(negativeInverse(modulus)));
    this.#limbs = toLimbs(modulus).map(BigInt);
  }

  /**
   * (sum of products)/R, within half a modulus of it, stored as doubles: limbs 0 to 3 from 0 to 2^51, the last signed.
   * With a reduction: the same plus the addends, made canonical.
   */
  multiply(f: FunctionBuilder, out: Code, products: readonly Product[], reduction?: Reduction): Code {
    return this.#stages(f, out, products, reduction);
  }

  /**
   * Two independent products, row by row in turns: each row of a product waits for the one before, and the machine works
   * on the other product in the meantime. The second product's operands must not be the first one's `out`.
   */
  multiplyTwo(
    f: FunctionBuilder,
    first: { out: Code; product: Product },
    second: { out: Code; product: Product },
  ): Code {
    const others = this.#stages(f, second.out, [second.product]);
    return this.#stages(f, first.out, [first.product]).map((stage, index) => [stage, others[index] ?? []]);
  }

  /** The code of `multiply` in stages: the operands, each row, the result. */
  #stages(f: FunctionBuilder, out: Code, products: readonly Product[], reduction?: Reduction): Code[] {
    const columns = f.locals("v128", 2 * LIMBS);
    const [x, high] = f.locals("v128", 2) as [Local, Local];
    const column = (index: number): Local => columns[index] as Local;
    const [toHigh, toLow] = f.locals("v128", 2) as [Local, Local];
    const accumulate = (index: number, left: Code, right: Code): Code => [
      high.set(f64x2.madd(left, right, toHigh.get)),
      column(index + 1).set(i64x2.add(column(index + 1).get, high.get)),
      column(index).set(i64x2.add(column(index).get, f64x2.madd(left, right, f64x2.sub(toLow.get, high.get)))),
    ];
    const rights = products.map(({ right }) =>
      Array.from({ length: LIMBS }, (_, limb) => ({ limb, local: f.local("v128"), code: right(limb) })),
    );
    const code: Code[] = [toHigh.set(this.#double(HIGH)), toLow.set(this.#double(HIGH + LOW))];
    for (const { local, code: value } of rights.flat()) code.push(local.set(value));
    for (const [index, initial] of this.#initial(products.length, reduction).entries()) {
      code.push(column(index).set(this.#bits(initial)));
    }
    const stages: Code[] = [code];
    for (let row = 0; row < LIMBS; row++) {
      const code: Code[] = [];
      stages.push(code);
      for (const [index, { left, negative }] of products.entries()) {
        code.push(x.set(negative ? f64x2.neg(left(row)) : left(row)));
        for (const { limb, local } of rights[index] ?? []) code.push(accumulate(row + limb, x.get, local.get));
      }
      // q = -column/p mod 2^51, signed; then column + q·p is a multiple of the radix.
      const factor = v128.load(i32.const(0), this.#factor);
      code.push(
        x.set(this.#toDouble(v128.and(column(row).get, this.#mask()))),
        high.set(f64x2.sub(toLow.get, f64x2.madd(x.get, factor, toHigh.get))),
        x.set(f64x2.sub(f64x2.madd(x.get, factor, high.get), this.#double(LOW))),
      );
      for (const [limb, value] of this.#limbs.entries())
        code.push(accumulate(row + limb, x.get, this.#double(Number(value))));
      code.push(this.#carry(column(row), column(row + 1)));
    }
    const results = columns.slice(LIMBS);
    stages.push(reduction === undefined ? this.#finish(out, results) : this.#reduce(f, out, results, reduction));
    return stages;
  }

  /**
   * Carries limbs that are integers below 2^53 in absolute value, so that all but the last are from -2^50 to 2^50; uses
   * doubles only.
   */
  carry(f: FunctionBuilder, out: Code, value: Operand): Code {
    const [limb, next, high] = f.locals("v128", 3) as [Local, Local, Local];
    const code: Code[] = [next.set(value(0))];
    for (let index = 0; index < LIMBS; index++) {
      code.push(limb.set(next.get));
      if (index < LIMBS - 1) {
        code.push(
          // Adding and subtracting 3·2^102 rounds to a multiple of 2^51.
          high.set(f64x2.sub(f64x2.add(limb.get, this.#double(HIGH)), this.#double(HIGH))),
          limb.set(f64x2.sub(limb.get, high.get)),
          next.set(f64x2.madd(high.get, this.#double(2 ** -SHIFT), value(index + 1))),
        );
      }
      code.push(v128.store(out, limb.get, 16 * index));
    }
    return code;
  }

  /** Canonical sum of canonical addends, without a product. */
  sum(f: FunctionBuilder, out: Code, { addends = [], bias, steps }: Reduction): Code {
    const results = f.locals("v128", LIMBS);
    const offsets = toLimbs(BigInt(bias) * this.modulus).map(BigInt);
    const initial = results.map((local, limb) => {
      const carried = (limb < LIMBS - 1 ? BIAS : 0n) - (limb > 0 ? BIAS_CARRY : 0n);
      return local.set(this.#bits((offsets[limb] ?? 0n) + carried - BigInt(addends.length) * bitsOf(LOW)));
    });
    return [initial, this.#reduce(f, out, results, { addends, bias, steps })];
  }

  /**
   * Initial values of the columns: the bias, minus the constants that the additions include, minus the bias's carry
   * from the column below. A reduction also adds the multiple of the modulus.
   */
  #initial(products: number, reduction: Reduction | undefined): bigint[] {
    const offsets = reduction === undefined ? [] : toLimbs(BigInt(reduction.bias) * this.modulus).map(BigInt);
    const lows = (column: number): number => Math.max(0, LIMBS - Math.abs(column - (LIMBS - 1)));
    return Array.from({ length: 2 * LIMBS }, (_, column) => {
      const count = BigInt(products + 1);
      let initial = -count * (BigInt(lows(column)) * bitsOf(LOW) + BigInt(lows(column - 1)) * bitsOf(HIGH));
      if (column < 2 * LIMBS - 1) initial += BIAS;
      if (column > 0) initial -= BIAS_CARRY;
      if (column < LIMBS) return initial;
      if (reduction === undefined) return column === 2 * LIMBS - 1 ? initial + bitsOf(LOW) : initial;
      return initial + (offsets[column - LIMBS] ?? 0n) - BigInt(reduction.addends?.length ?? 0) * bitsOf(LOW);
    });
  }

  /** Carries, and stores as doubles; the last limb already has the constant that makes it a double. */
  #finish(out: Code, results: readonly Local[]): Code {
    return results.map((local, limb) => {
      const next = results[limb + 1];
      if (next === undefined) return v128.store(out, f64x2.sub(local.get, this.#double(LOW)), 16 * limb);
      const value = this.#toDouble(v128.and(local.get, this.#mask()));
      return [v128.store(out, value, 16 * limb), this.#carry(local, next)];
    });
  }

  #reduce(f: FunctionBuilder, out: Code, results: readonly Local[], { addends = [], steps }: Reduction): Code {
    const code: Code[] = [];
    for (const [limb, local] of results.entries()) {
      for (const { value, negative } of addends) {
        const double = negative ? f64x2.sub(this.#double(LOW), value(limb)) : f64x2.add(this.#double(LOW), value(limb));
        code.push(local.set(i64x2.add(local.get, double)));
      }
    }
    for (const [limb, local] of results.entries()) {
      const next = results[limb + 1];
      if (next !== undefined) code.push(this.#carry(local, next), local.set(v128.and(local.get, this.#mask())));
    }
    for (const step of steps) code.push(this.#subtractIfFits(f, results, step));
    return [code, results.map((local, limb) => v128.store(out, this.#toDouble(local.get), 16 * limb))];
  }

  #subtractIfFits(f: FunctionBuilder, results: readonly Local[], multiple: number): Code {
    const address = this.pool.integers(BigInt(multiple) * this.modulus);
    const differences = f.locals("v128", LIMBS);
    const code: Code[] = [];
    for (const [limb, difference] of differences.entries()) {
      const value = i64x2.sub((results[limb] as Local).get, v128.load(i32.const(0), address + 16 * limb));
      const below = differences[limb - 1];
      // The sign of the limb below is the borrow; that limb's low 51 bits are already correct.
      code.push(difference.set(below === undefined ? value : i64x2.sub(value, i64x2.shrU(below.get, 63))));
      if (below !== undefined) code.push(below.set(v128.and(below.get, this.#mask())));
    }
    const top = differences[LIMBS - 1] as Local;
    const tooLarge = f.local("v128");
    code.push(tooLarge.set(i64x2.ltS(top.get, this.#bits(0n))));
    for (const [limb, local] of results.entries()) {
      code.push(local.set(v128.select(local.get, (differences[limb] as Local).get, tooLarge.get)));
    }
    return code;
  }

  #carry(from: Local, to: Local): Code {
    return to.set(i64x2.add(to.get, i64x2.shrU(from.get, SHIFT)));
  }

  /** Converts a non-negative integer below 2^52 to the double of the same value. */
  #toDouble(value: Code): Code {
    return f64x2.sub(v128.or(value, this.#double(TWO_52)), this.#double(TWO_52));
  }

  #double(value: number): Code {
    return v128.load(i32.const(0), this.pool.double(value));
  }

  #bits(value: bigint): Code {
    return v128.load(i32.const(0), this.pool.bits(value));
  }

  #mask(): Code {
    return this.#bits((1n << RADIX_BITS) - 1n);
  }
}
