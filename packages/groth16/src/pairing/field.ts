/**
 * The arithmetic of Fq, and of Fq2 = Fq[i]/(i^2 + 1), as code of WebAssembly's 64-bit integers, which every runtime has.
 *
 * **Products** are summed by columns: column k has the products of limbs i and j with i + j = k, at most nine of each pair of
 * elements. Montgomery's method then removes the lowest nine columns, from the bottom: q = -column/p mod 2^29, with
 * -2^28 <= q < 2^28, makes column + q·p a multiple of 2^29, of which the carry is added to the next column.
 *
 * - Columns fit into 64 bits with sign: if the weights of the factors are a and b, and the sum of a·b over the products is at most
 *   MAX_PRODUCTS = 13, a column is at most 13·9·SMALL_LIMB^2 + 9·2^28·2^28 + 2^36 < 2^63 in absolute value (`assertFits`
 *   computes it). Intermediate sums, as of Karatsuba's method, may exceed that: integers wrap modulo 2^64, and only the column must fit.
 * - The result is small: its value is (sum of products + Q·p)/R with |Q| <= 2^28·(R - 1)/(2^29 - 1) < 0.5001 R, and
 *   the products are at most 13·(0.6 p)^2. As p/R < 1/169, the value is below (13·0.36/169 + 0.5001) p < 0.53 p. Its limbs are
 *   from -2^28 to 2^28 - 1, and the last one is what remains: at most 0.53 p/2^232 + 1 < 2^21.
 *
 * **Sums** of small elements times integers are reduced if their weight could exceed what a product or the memory allows. With the
 * weight w <= MAX_SUM = 127, the top limb t gives k = round(t·2^232/p), and the sum minus k·p is small:
 *
 * - The lower limbs are below w·2^231.01 together, that is 2^-15 p, and the factor's rounding adds less than 2^-20 p. So the value
 *   is at most (1/2 + 2^-14) p.
 * - |k| <= 0.6·127 + 1 < 78, so limbs of the difference are below (127 + 78)·SMALL_LIMB < 2^36 - 2^28. Each passes (limb + 2^28) >> 29 on
 *   to the next one, at most 103 in absolute value, and keeps a rest from -2^28 to 2^28 - 1.
 */
import type { Code, FunctionBuilder, Local, ModuleBuilder } from "../fast/assembler.ts";
import { i32, i64 } from "../fast/instructions.ts";
import { BASE_FIELD_ORDER } from "../proof/orders.ts";
import { ELEMENT_BYTES, HALF, LIMB_BITS, LIMBS, negativeInverse, SMALL_LIMB, toLimbs } from "./limbs.ts";

/** The sum of the products of weights in one column. */
export const MAX_PRODUCTS = 13;
/** The weight of a sum before it is reduced. */
export const MAX_SUM = 127;
/** The weight of an element in memory, whose limbs have 32 bits. */
export const MAX_STORED = 7;

/** An integer, or a + b·i as [a, b]. */
export type Coefficient = number | readonly [number, number];

/** The functions of a field; arguments are addresses. `out` may be the address of an operand. */
export interface FieldCode {
  /** 1 for Fq, 2 for Fq2: also the products of which a part of a product is the sum. */
  readonly degree: 1 | 2;
  /** Size of an element in memory. */
  readonly bytes: number;
  multiply(out: Code, a: Code, b: Code): Code;
  square(out: Code, a: Code): Code;
  /** The sum of operands times coefficients; small if it is reduced, else of the operands' weights together. */
  sum(coefficients: readonly Coefficient[], reduced: boolean): (out: Code, ...operands: Code[]) => Code;
  /** Whether a small element is 0, as an i32. */
  isZero(a: Code): Code;
}

const MODULUS = toLimbs(BASE_FIELD_ORDER);
const SHIFT = i64.const(LIMB_BITS);
/** The factor of the top limb in `reduceSum`, and the bits by which the product is shifted. */
const QUOTIENT_BITS = 50n;
const TOP_BITS = LIMB_BITS * BigInt(LIMBS - 1);
const QUOTIENT = ((1n << (QUOTIENT_BITS + TOP_BITS)) + BASE_FIELD_ORDER / 2n) / BASE_FIELD_ORDER;

assertFits();

function assertFits(): void {
  const column = 9n * (BigInt(MAX_PRODUCTS) * SMALL_LIMB ** 2n + HALF ** 2n) + (1n << 36n);
  if (column >= 1n << 63n) throw new Error("a column of products does not fit into 64 bits");
  if (BigInt(MAX_STORED) * SMALL_LIMB >= 1n << 31n) throw new Error("a stored limb does not fit into 32 bits");
}

const addUp = (terms: readonly Code[]): Code => terms.reduce((sum, term) => i64.add(sum, term));
const limbAt = (address: Code, limb: number, part = 0): Code => i64.load32S(address, part * ELEMENT_BYTES + 4 * limb);
const get = (locals: readonly Local[], index: number): Code => (locals[index] as Local).get;

/** Pairs [i, j] of limbs whose products are in a column. */
function pairsOf(column: number): [number, number][] {
  const first = Math.max(0, column - LIMBS + 1);
  return Array.from({ length: Math.min(column, LIMBS - 1) - first + 1 }, (_, i) => [first + i, column - first - i]);
}

/** Reduces columns, given from the lowest on, and stores the result at out + offset. */
class Montgomery {
  readonly #digits: Local[];
  readonly #column: Local;
  readonly #carry: Local;
  readonly #out: Code;
  readonly #offset: number;
  #next = 0;

  constructor(f: FunctionBuilder, out: Code, offset: number) {
    this.#digits = f.locals("i64", LIMBS);
    [this.#column, this.#carry] = f.locals("i64", 2) as [Local, Local];
    [this.#out, this.#offset] = [out, offset];
  }

  /** @param sum the code of the column's sum of products */
  column(sum: Code): Code {
    const index = this.#next++;
    const [column, carry] = [this.#column, this.#carry];
    const removed = pairsOf(index).filter(([digit]) => digit < index);
    const terms = removed.map(([digit, limb]) => i64.mul(get(this.#digits, digit), i64.const(MODULUS[limb] as bigint)));
    const total = addUp([sum, ...(index === 0 ? [] : [carry.get]), ...terms]);
    if (index < LIMBS) {
      const digit = this.#digits[index] as Local;
      const high = i64.const(64n - LIMB_BITS);
      return [
        column.set(total),
        digit.set(i64.shrS(i64.shl(i64.mul(column.get, i64.const(negativeInverse())), high), high)),
        carry.set(i64.shrS(i64.add(column.get, i64.mul(digit.get, i64.const(MODULUS[0] as bigint))), SHIFT)),
      ];
    }
    const place = this.#offset + 4 * (index - LIMBS);
    return [
      column.set(total),
      carry.set(i64.shrS(i64.add(column.get, i64.const(HALF)), SHIFT)),
      i64.store32(this.#out, i64.sub(column.get, i64.shl(carry.get, SHIFT)), place),
      index === 2 * LIMBS - 2 ? i64.store32(this.#out, carry.get, place + 4) : [],
    ];
  }
}

/** Loads the limbs of an element's part into locals. */
function load(f: FunctionBuilder, address: Code, part = 0): { code: Code; limbs: readonly Local[] } {
  const limbs = f.locals("i64", LIMBS);
  return { code: limbs.map((local, limb) => local.set(limbAt(address, limb, part))), limbs };
}

const COLUMNS = Array.from({ length: 2 * LIMBS - 1 }, (_, column) => column);

const productsOf = (column: number, a: readonly Local[], b: readonly Local[]): Code =>
  addUp(pairsOf(column).map(([i, j]) => i64.mul(get(a, i), get(b, j))));

/** Twice the products of different limbs, and the square of the one in the middle. */
function squareOf(column: number, a: readonly Local[]): Code {
  const crosses = pairsOf(column).filter(([i, j]) => i < j);
  const middle = column % 2 === 0 ? [i64.mul(get(a, column / 2), get(a, column / 2))] : [];
  if (crosses.length === 0) return addUp(middle);
  const twice = i64.shl(addUp(crosses.map(([i, j]) => i64.mul(get(a, i), get(a, j)))), i64.const(1n));
  return addUp([twice, ...middle]);
}

/** Defines reduceSum(out, nine limbs): stores the small element that the limbs of a sum represent modulo p. */
function defineReduceSum(module: ModuleBuilder): (out: Code, limbs: readonly Code[]) => Code {
  const call = module.define("reduceSum", ["i32", ...new Array<"i64">(LIMBS).fill("i64")], (f) => {
    const [out, ...limbs] = f.params as [Local, ...Local[]];
    const [multiple, below] = f.locals("i64", 2) as [Local, Local];
    const half = i64.const(1n << (QUOTIENT_BITS - 1n));
    const scaled = i64.mul(get(limbs, LIMBS - 1), i64.const(QUOTIENT));
    return [
      multiple.set(i64.shrS(i64.add(scaled, half), i64.const(QUOTIENT_BITS))),
      limbs.map((limb, index) => {
        const difference = i64.sub(limb.get, i64.mul(multiple.get, i64.const(MODULUS[index] as bigint)));
        if (index === LIMBS - 1) return i64.store32(out.get, i64.add(difference, below.get), 4 * index);
        const rest = i64.sub(
          i64.and(i64.add(limb.get, i64.const(HALF)), i64.const((1n << LIMB_BITS) - 1n)),
          i64.const(HALF),
        );
        return [
          limb.set(difference),
          i64.store32(out.get, index === 0 ? rest : i64.add(rest, below.get), 4 * index),
          below.set(i64.shrS(i64.add(limb.get, i64.const(HALF)), SHIFT)),
        ];
      }),
    ];
  });
  return (out, limbs) => call(out, ...limbs);
}

/** A term's factors of the parts of its operand, for one part of a sum. */
function factorsOf(coefficient: Coefficient, part: number): [number, number] {
  const [real, imaginary] = typeof coefficient === "number" ? [coefficient, 0] : coefficient;
  return part === 0 ? [real, -imaginary] : [imaginary, real];
}

/** The sum of the absolute values of a coefficient's parts: the weight of its product with a small element. */
export function weightOf(coefficient: Coefficient): number {
  return typeof coefficient === "number" ? Math.abs(coefficient) : Math.abs(coefficient[0]) + Math.abs(coefficient[1]);
}

function scaled(code: Code, factor: number): Code {
  return factor === 1 ? code : i64.mul(code, i64.const(BigInt(factor)));
}

/** Defines the functions of both fields. */
export function defineFields(module: ModuleBuilder): { readonly one: FieldCode; readonly two: FieldCode } {
  const reduceSum = defineReduceSum(module);
  const three = ["i32", "i32", "i32"] as const;

  /** Defines each sum when it is first used. */
  const sums = (degree: 1 | 2): FieldCode["sum"] => {
    const known = new Map<string, (out: Code, ...operands: Code[]) => Code>();
    return (coefficients, reduced) => {
      const key = `sum${degree}${reduced ? "" : "lazy"}(${coefficients.join(";")})`;
      const call = known.get(key) ?? define(key, coefficients, reduced);
      known.set(key, call);
      return call;
    };
    function define(name: string, coefficients: readonly Coefficient[], reduced: boolean) {
      return module.define(name, new Array<"i32">(coefficients.length + 1).fill("i32"), (f) => {
        const [out, ...operands] = f.params as [Local, ...Local[]];
        const limbOf = (part: number, limb: number): Code => {
          const terms = operands.flatMap(({ get: operand }, index) => {
            const factors = factorsOf(coefficients[index] as Coefficient, part);
            return factors.flatMap((factor, from) =>
              factor === 0 ? [] : [{ factor, code: limbAt(operand, limb, from) }],
            );
          });
          // A positive term first, if there is one, saves the product with -1.
          const [first, ...rest] = terms.toSorted((left, right) => right.factor - left.factor);
          if (first === undefined) throw new Error("a sum without terms");
          return rest.reduce(
            (sum, { factor, code }) => {
              return factor < 0 ? i64.sub(sum, scaled(code, -factor)) : i64.add(sum, scaled(code, factor));
            },
            scaled(first.code, first.factor),
          );
        };
        const parts = Array.from({ length: degree }, (_, part) =>
          Array.from({ length: LIMBS }, (_, limb) => limbOf(part, limb)),
        );
        // All parts are computed before one is stored, because `out` may be an operand.
        const locals = parts.slice(1).map((limbs) => limbs.map((code) => ({ local: f.local("i64"), code })));
        const values = [parts[0] as Code[], ...locals.map((own) => own.map(({ local }) => local.get))];
        return [
          locals.map((own) => own.map(({ local, code }) => local.set(code))),
          values.map((limbs, part) =>
            reduced
              ? reduceSum(part === 0 ? out.get : i32.add(out.get, i32.const(ELEMENT_BYTES)), limbs)
              : limbs.map((limb, index) => i64.store32(out.get, limb, part * ELEMENT_BYTES + 4 * index)),
          ),
        ];
      });
    }
  };

  const zero = (degree: 1 | 2): FieldCode["isZero"] =>
    module.define(
      `isZero${degree}`,
      ["i32"],
      (f) => {
        const [a] = f.params as [Local];
        const words = Array.from({ length: degree * LIMBS }, (_, index) => i32.load(a.get, 4 * index));
        return i32.eq(
          words.reduce((any, word) => i32.or(any, word)),
          i32.const(0),
        );
      },
      ["i32"],
    );

  const one: FieldCode = {
    degree: 1,
    bytes: ELEMENT_BYTES,
    multiply: module.define("multiply1", three, (f) => {
      const [out, a, b] = f.params as [Local, Local, Local];
      const [left, right] = [load(f, a.get), load(f, b.get)];
      const result = new Montgomery(f, out.get, 0);
      return [left.code, right.code, COLUMNS.map((k) => result.column(productsOf(k, left.limbs, right.limbs)))];
    }),
    square: module.define("square1", ["i32", "i32"], (f) => {
      const [out, a] = f.params as [Local, Local];
      const { code, limbs } = load(f, a.get);
      const result = new Montgomery(f, out.get, 0);
      return [code, COLUMNS.map((k) => result.column(squareOf(k, limbs)))];
    }),
    sum: sums(1),
    isZero: zero(1),
  };

  const two: FieldCode = {
    degree: 2,
    bytes: 2 * ELEMENT_BYTES,
    // Karatsuba's method in each column: a0·b1 + a1·b0 = (a0 + a1)(b0 + b1) - a0·b0 - a1·b1.
    multiply: module.define("multiply2", three, (f) => {
      const [out, a, b] = f.params as [Local, Local, Local];
      const [a0, a1, b0, b1] = [load(f, a.get), load(f, a.get, 1), load(f, b.get), load(f, b.get, 1)];
      const [a2, b2] = [f.locals("i64", LIMBS), f.locals("i64", LIMBS)];
      const [low, high] = f.locals("i64", 2) as [Local, Local];
      const [real, imaginary] = [new Montgomery(f, out.get, 0), new Montgomery(f, out.get, ELEMENT_BYTES)];
      return [
        [a0.code, a1.code, b0.code, b1.code],
        a2.map((local, limb) => local.set(i64.add(get(a0.limbs, limb), get(a1.limbs, limb)))),
        b2.map((local, limb) => local.set(i64.add(get(b0.limbs, limb), get(b1.limbs, limb)))),
        COLUMNS.map((k) => [
          low.set(productsOf(k, a0.limbs, b0.limbs)),
          high.set(productsOf(k, a1.limbs, b1.limbs)),
          real.column(i64.sub(low.get, high.get)),
          imaginary.column(i64.sub(productsOf(k, a2, b2), i64.add(low.get, high.get))),
        ]),
      ];
    }),
    // (a0 + a1)(a0 - a1) and 2·a0·a1. In a column of the first, the products of a0 and a1 cancel out.
    square: module.define("square2", ["i32", "i32"], (f) => {
      const [out, a] = f.params as [Local, Local];
      const [a0, a1] = [load(f, a.get), load(f, a.get, 1)];
      const [plus, minus, twice] = [f.locals("i64", LIMBS), f.locals("i64", LIMBS), f.locals("i64", LIMBS)];
      const [real, imaginary] = [new Montgomery(f, out.get, 0), new Montgomery(f, out.get, ELEMENT_BYTES)];
      return [
        [a0.code, a1.code],
        plus.map((local, limb) => local.set(i64.add(get(a0.limbs, limb), get(a1.limbs, limb)))),
        minus.map((local, limb) => local.set(i64.sub(get(a0.limbs, limb), get(a1.limbs, limb)))),
        twice.map((local, limb) => local.set(i64.shl(get(a0.limbs, limb), i64.const(1n)))),
        COLUMNS.map((k) => [real.column(productsOf(k, plus, minus)), imaginary.column(productsOf(k, twice, a1.limbs))]),
      ];
    }),
    sum: sums(2),
    isZero: zero(2),
  };
  return { one, two };
}
