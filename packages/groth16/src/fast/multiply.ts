/**
 * Montgomery multiplication of two pairs at once, in doubles. If x and y are integers up to 2^51 in absolute value, one
 * fused multiply-add onto 3·2^102 rounds their product to a multiple of 2^51 (the high part h), and a second one gives
 * the remainder exactly (the low part l, between -2^50 and 2^50). Adding such constants puts h and l into the low bits
 * of the doubles, so columns are summed as 64-bit integers, and the constants are subtracted all at once. Source:
 * Emmart, Zheng, Weems, "Faster modular exponentiation using double precision floating point arithmetic on the GPU"
 * (ARITH 2018), in the variant with round-to-nearest that the ZPrize 2023 entries use.
 *
 * The lowest five columns are removed from the bottom. The low 51 bits of column j are a digit x from -2^50 to 2^50 - 1:
 *
 * - j < 3: x·2^(51·j) becomes x·m·2^153, where m = 2^(51·(j - 3)) mod p. These products do not depend on each other. They
 *   add less than 3·2^50·p·2^153/R < 2^-50 p to the result.
 * - j = 3 and 4, as in Montgomery's method: q·p·2^(51·j) is added, where q = -x/p mod 2^51, |q| <= 2^50. That adds at most
 *   2^50·(2^153 + 2^204)·p/R = (1/2 + 2^-52) p to the result.
 *
 * So the result is within (1/2 + 2^-49) p of the sum of products divided by R: "half a modulus" in the comments.
 *
 * The low part of q·p0 is -x, which removes the digit, so it is not computed. It is congruent to -x modulo 2^51, and both
 * are between -2^50 and 2^50; only for x = -2^50 it could have the other sign. There both x·(-1/p) and q·p0 are odd
 * multiples of 2^50, so that each rounds to the even one of two multiples of 2^51: with c = p0 mod 4 (1 or 3) and -1/p
 * congruent to -c modulo 4, q is 2^50·(2 - c), and the low part of q·p0 is 2^50 in both cases, which is -x.
 */
import type { Code, FunctionBuilder, Local } from "./assembler.ts";
import type { ConstantPool } from "./constants.ts";
import { f64x2, i32, i64x2, v128 } from "./instructions.ts";
import {
  doubleOf,
  type Factor,
  fusedProducts,
  HIGH,
  type LimbProducts,
  LOW,
  type MakeProducts,
  type Rounding,
} from "./limb-products.ts";
import { bitsOf, LIMBS, negativeInverse, RADIX_BITS, toLimbs } from "./limbs.ts";
import type { Operand, Product, Reduction } from "./operands.ts";

const TWO_52 = 2 ** 52;
const SHIFT = Number(RADIX_BITS);
/** Keeps columns positive while they are carried: a multiple of the radix, above any column. */
const BIAS = 1n << 60n;
const BIAS_CARRY = BIAS >> RADIX_BITS;
/** Added to columns whose low bits are read as a signed digit, and subtracted from the digit. */
const HALF = 1n << (RADIX_BITS - 1n);
/** Number of digits that are not removed by adding a multiple of the modulus. */
const FOLDED = 3;

/** Emits the code of field arithmetic. */
export class FieldEmitter {
  /** Order of the field. */
  readonly modulus: bigint;
  /** Where constants of the code are placed. */
  readonly pool: ConstantPool;
  readonly #products: LimbProducts;
  readonly #factor: number;
  readonly #limbs: readonly number[];
  /** At index j the limbs of 2^(51·(j - FOLDED)) mod p. */
  readonly #folds: readonly (readonly number[])[];

  /** @param makeProducts how products of limbs are computed. Default: by fused multiply-add */
  constructor(modulus: bigint, pool: ConstantPool, makeProducts: MakeProducts = fusedProducts) {
    this.modulus = modulus;
    this.pool = pool;
    this.#products = makeProducts(pool);
    this.#factor = Number(negativeInverse(modulus));
    this.#limbs = toLimbs(modulus);
    this.#folds = Array.from({ length: FOLDED }, (_, digit) => toLimbs(shiftedDown(modulus, FOLDED - digit)));
  }

  /**
   * (sum of products)/R, within half a modulus of it, stored as doubles: limbs 0 to 3 from 0 to 2^51, the last signed.
   * With a reduction: the same plus the addends, made canonical. A product whose operands are the same object is
   * computed as a square, which needs 15 products of limbs instead of 25.
   */
  multiply(f: FunctionBuilder, out: Code, products: readonly Product[], reduction?: Reduction): Code {
    const { set, ...rounding } = this.#rounding(f);
    return [set, this.#steps(f, out, rounding, products, reduction)];
  }

  /**
   * Two independent products, step by step in turns: a step often waits for the one before, and the machine works on the
   * other product in the meantime. The second product's operands must not be the first one's `out`.
   */
  multiplyTwo(
    f: FunctionBuilder,
    first: { out: Code; product: Product },
    second: { out: Code; product: Product },
  ): Code {
    const { set, ...rounding } = this.#rounding(f);
    const steps = [first, second].map(({ out, product }) => this.#steps(f, out, rounding, [product]));
    const count = Math.max(...steps.map(({ length }) => length));
    return [set, Array.from({ length: count }, (_, index) => steps.map((each) => each[index] ?? []))];
  }

  /** The constants that round a product to its high part, and that leave its low part, in locals. */
  #rounding(f: FunctionBuilder): Rounding & { readonly set: Code } {
    const [toHigh, toLow] = f.locals("v128", 2) as [Local, Local];
    const set = [toHigh.set(this.#double(HIGH)), toLow.set(this.#double(HIGH + LOW))];
    return { toHigh: toHigh.get, toLow: toLow.get, set };
  }

  /** The code of `multiply` in steps: the operands, the columns from the lowest on, the result. */
  #steps(
    f: FunctionBuilder,
    out: Code,
    { toHigh, toLow }: Rounding,
    products: readonly Product[],
    reduction?: Reduction,
  ): Code[] {
    const high = f.local("v128");
    const digits = this.#products.variables(f, LIMBS);
    const parts = this.#products.parts(f, { toHigh, toLow });
    const accumulate = (low: Local, next: Local, left: Factor, right: Factor): Code => [
      parts.setHigh(high, left, right),
      next.set(i64x2.add(next.get, high.get)),
      low.set(i64x2.add(low.get, parts.low(high, left, right, "low constant"))),
    ];
    const code: Code[] = [];
    const load = (operand: Operand): ((limb: number) => Factor) => {
      const limbs = this.#products.variables(f, LIMBS);
      for (const [limb, { set }] of limbs.entries()) code.push(set(operand(limb)));
      return (limb) => limbs[limb] as Factor;
    };
    const terms = products.map(({ left, right }) => {
      const loaded = load(right);
      if (left !== right) return { left: load(left), right: loaded, crosses: undefined };
      return { left: loaded, right: loaded, crosses: f.locals("v128", 2 * LIMBS) };
    });
    const initial = this.#initial(products.length, reduction);
    const columns = f.locals("v128", 2 * LIMBS);
    const start = (locals: readonly Local[], index: number, bits: bigint): number =>
      code.push((locals[index] as Local).set(this.#bits(bits)));
    start(columns, 0, initial[0] as bigint);
    for (let index = 0; index < 2 * LIMBS - 1; index++) {
      const [column, next] = [columns[index] as Local, columns[index + 1] as Local];
      start(columns, index + 1, initial[index + 1] as bigint);
      const first = Math.max(0, index - LIMBS + 1);
      const pairs = Array.from({ length: Math.min(index, LIMBS - 1) - first + 1 }, (_, i) => [
        first + i,
        index - first - i,
      ]) as [number, number][];
      for (const { left, right, crosses } of terms) {
        if (crosses === undefined) {
          for (const [i, j] of pairs) code.push(accumulate(column, next, left(i), right(j)));
          continue;
        }
        // Twice the products of different limbs, and the square of the limb in the middle.
        const [cross, nextCross] = [crosses[index] as Local, crosses[index + 1] as Local];
        start(crosses, index + 1, 0n);
        for (const [i, j] of pairs) if (i < j) code.push(accumulate(cross, nextCross, left(i), left(j)));
        if (index > 0) code.push(column.set(i64x2.add(column.get, i64x2.add(cross.get, cross.get))));
        if (index % 2 === 0) code.push(accumulate(column, next, left(index / 2), left(index / 2)));
      }
      for (const [digit, x] of digits.entries()) {
        const limb = index - Math.max(digit, FOLDED);
        const factor = (this.#folds[digit] ?? this.#limbs)[limb];
        // The lowest product of a quotient digit follows below.
        if (factor === undefined || (digit >= FOLDED && limb === 0)) continue;
        code.push(accumulate(column, next, x, this.#products.constant(factor)));
      }
      const x = digits[index];
      if (x === undefined) continue;
      const signed = f64x2.sub(this.#withExponent(column.get), this.#double(TWO_52 + Number(HALF)));
      code.push(x.set(signed), this.#carry(column, next));
      if (index < FOLDED) continue;
      const [factor, lowest] = [
        this.#products.constant(this.#factor),
        this.#products.constant(this.#limbs[0] as number),
      ];
      code.push(
        parts.setHigh(high, x, factor),
        x.set(parts.low(high, x, factor, "nothing")),
        parts.setHigh(high, x, lowest),
        next.set(i64x2.add(next.get, high.get)),
      );
    }
    const results = columns.slice(LIMBS);
    code.push(...(reduction === undefined ? this.#finish(out, results) : [this.#reduce(f, out, results, reduction)]));
    return code;
  }

  /**
   * Carries from each limb to the next one, once. Limbs are integers below 2^53 in absolute value; afterwards, all but the
   * last are at most 2^50 + 4 in absolute value. It uses doubles only.
   */
  carry(f: FunctionBuilder, out: Code, value: Operand): Code {
    const limbs = f.locals("v128", LIMBS);
    const highs = f.locals("v128", LIMBS - 1);
    // Adding and subtracting 3·2^102 rounds to a multiple of 2^51.
    const rounded = (limb: Local): Code => f64x2.sub(f64x2.add(limb.get, this.#double(HIGH)), this.#double(HIGH));
    return [
      limbs.map((limb, index) => limb.set(value(index))),
      highs.map((high, index) => high.set(rounded(limbs[index] as Local))),
      limbs.map((limb, index) => {
        const [high, below] = [highs[index], highs[index - 1]];
        const rest = high === undefined ? limb.get : f64x2.sub(limb.get, high.get);
        // The product is exact, so that it does not matter whether it is rounded.
        const sum = below === undefined ? rest : f64x2.add(f64x2.mul(below.get, this.#double(2 ** -SHIFT)), rest);
        return v128.store(out, sum, 16 * index);
      }),
    ];
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
    // Numbers of low and of high parts that are added to each column.
    const [lows, highs] = [new Array<number>(2 * LIMBS).fill(0), new Array<number>(2 * LIMBS).fill(0)];
    const count = (column: number, added: number, low = true): void => {
      if (low) lows[column]! += added;
      highs[column + 1]! += added;
    };
    for (let limb = 0; limb < LIMBS; limb++) {
      for (let other = 0; other < LIMBS; other++) count(limb + other, products);
      count(FOLDED + limb, FOLDED);
      for (let digit = FOLDED; digit < LIMBS; digit++) count(digit + limb, 1, limb > 0);
    }
    return lows.map((low, column) => {
      const high = highs[column]!;
      const addends = column < LIMBS ? 0 : (reduction?.addends?.length ?? 0);
      // A low part is up to 2^50, a high part and an addend up to 2^51, an offset's limb and a carry below 2^53.
      if (BigInt(low + 2 * (high + addends) + 16) * HALF >= BIAS) throw new Error("too many products for a column");
      let initial = -(BigInt(low) * bitsOf(LOW) + BigInt(high) * bitsOf(HIGH));
      if (column < 2 * LIMBS - 1) initial += BIAS;
      if (column > 0) initial -= BIAS_CARRY;
      if (column < LIMBS) return initial + HALF;
      if (reduction === undefined) return column === 2 * LIMBS - 1 ? initial + bitsOf(LOW) : initial;
      return initial + (offsets[column - LIMBS] ?? 0n) - BigInt(addends) * bitsOf(LOW);
    });
  }

  /** Carries, and stores as doubles; the last limb already has the constant that makes it a double. */
  #finish(out: Code, results: readonly Local[]): Code[] {
    return results.map((local, limb) => {
      const next = results[limb + 1];
      if (next === undefined) return v128.store(out, f64x2.sub(local.get, this.#double(LOW)), 16 * limb);
      const value = f64x2.sub(this.#withExponent(local.get), this.#double(TWO_52));
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
    for (const [limb, local] of results.entries())
      code.push(local.set(v128.select(local.get, (differences[limb] as Local).get, tooLarge.get)));
    return code;
  }

  #carry(from: Local, to: Local): Code {
    return to.set(i64x2.add(to.get, i64x2.shrU(from.get, SHIFT)));
  }

  /** Converts a non-negative integer below 2^52 to the double of the same value. */
  #toDouble(value: Code): Code {
    return f64x2.sub(v128.or(value, this.#double(TWO_52)), this.#double(TWO_52));
  }

  /** The double 2^52 + the low 51 bits. */
  #withExponent(value: Code): Code {
    return v128.or(v128.and(value, this.#mask()), this.#double(TWO_52));
  }

  #double(value: number): Code {
    return doubleOf(this.pool, value);
  }

  #bits(value: bigint): Code {
    return v128.load(i32.const(0), this.pool.bits(value));
  }

  #mask(): Code {
    return this.#bits((1n << RADIX_BITS) - 1n);
  }
}

/** 2^(-51·limbs) mod p. */
function shiftedDown(modulus: bigint, limbs: number): bigint {
  let value = 1n;
  for (let bit = 0n; bit < RADIX_BITS * BigInt(limbs); bit++)
    value = (value % 2n === 0n ? value : value + modulus) / 2n;
  return value;
}
