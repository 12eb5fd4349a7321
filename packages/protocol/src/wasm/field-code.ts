import { FIELD_MODULUS } from "../field.ts";
import { type Code, type FunctionCode, op } from "./assembler.ts";

/*
 * Arithmetic modulo p in nine limbs of 29 bits, each in an i64 of memory, in Montgomery form with R = 2^261.
 *
 * 29 bits leave room: a column of a product is at most nine products of limbs and nine of the reduction, 18 * 2^58 <
 * 2^63, so nothing is carried inside a multiplication (the layout of mitschabaude/montgomery). Limbs are signed. Every
 * function but `sub` leaves limbs 0..7 in [0, 2^29) and the sign in limb 8; the limbs of a difference are between
 * -2^29 and 2^29. Both are inputs that a multiplication may have.
 *
 * Sizes: R is 169 p, and |mul(a, b)| < |a b| / R + p. The largest value anywhere is a lane of Poseidon's partial rounds,
 * to which up to 68 products are added: 70 p < 2^260, so limb 8 stays below 2^29 as well; its S-box gives 27 p at most.
 */
export const LIMBS = 9;
export const LIMB_BITS = 29n;
/** Bytes of an element. */
export const ELEMENT = 8 * LIMBS;
/** R of the Montgomery form. */
export const RADIX = 1n << (LIMB_BITS * BigInt(LIMBS));

const MASK = (1n << LIMB_BITS) - 1n;
const MODULUS = Array.from({ length: LIMBS }, (_, i) => (FIELD_MODULUS >> (LIMB_BITS * BigInt(i))) & MASK);

/** -1 / p modulo 2^29: p = 1 + 2^28 there, whose square is 1. */
const NEGATIVE_INVERSE = -MODULUS[0]! & MASK;

const { get, set, load, store, const64 } = op;
const [DST, A, B] = [0, 1, 2];
const masked: Code = [...const64(MASK), ...op.and];
const carry: Code = [...const64(LIMB_BITS), ...op.shr];
const indices = Array.from({ length: LIMBS }, (_, i) => i);

/** Stores the columns in the locals from `first` on as limbs, carries propagated. */
function storeCarried(first: number): Code {
  return indices.flatMap((i) => {
    const limb = get(first + i);
    if (i === LIMBS - 1) return [...get(DST), ...limb, ...store(8 * i)];
    const next = [...get(first + i + 1), ...limb, ...carry, ...op.add, ...set(first + i + 1)];
    return [...next, ...get(DST), ...limb, ...masked, ...store(8 * i)];
  });
}

/**
 * Montgomery multiplication, row by row: `terms(i)` gives for each column the code of what row i adds to it (or null).
 * After a row, column 0 is a multiple of 2^29 and every column moves down by one.
 */
function montgomery(
  column: number,
  quotient: number,
  terms: (row: number) => (Code | null)[],
  prepare: (row: number) => Code,
) {
  return indices.flatMap((row) => {
    const added = terms(row);
    // Column 8 is empty when a row begins, all of them are before row 0.
    const current = (j: number) => {
      const old = row > 0 && j < LIMBS - 1 ? get(column + j) : null;
      const parts = [old, added[j]].filter((part): part is Code => part != null);
      return parts.length === 0
        ? const64(0n)
        : parts.length === 1
          ? parts[0]!
          : [...parts[0]!, ...parts[1]!, ...op.add];
    };
    const reduce = (j: number): Code => [...get(quotient), ...const64(MODULUS[j]!), ...op.mul, ...op.add];
    const first = [...prepare(row), ...current(0), ...set(column)];
    const q = [...get(column), ...const64(NEGATIVE_INVERSE), ...op.mul, ...masked, ...set(quotient)];
    const carried = [...get(column), ...reduce(0), ...carry, ...set(column)];
    const rest = indices.slice(1).flatMap((j) => {
      const withCarry = j === 1 ? [...get(column), ...op.add] : [];
      return [...current(j), ...reduce(j), ...withCarry, ...set(column + j - 1)];
    });
    return [...first, ...q, ...carried, ...rest];
  });
}

/** mul(dst, a, b) */
function multiplication(): FunctionCode {
  const [limb, column, left, quotient] = [3, 3 + LIMBS, 3 + 2 * LIMBS, 4 + 2 * LIMBS];
  const loads = indices.flatMap((j) => [...get(B), ...load(8 * j), ...set(limb + j)]);
  const prepare = (row: number) => [...get(A), ...load(8 * row), ...set(left)];
  const terms = () => indices.map((j) => [...get(left), ...get(limb + j), ...op.mul]);
  const code = [
    ...loads,
    ...montgomery(column, quotient, terms, prepare),
    ...lastColumn(column),
    ...storeCarried(column),
  ];
  return { name: "mul", parameters: 3, locals64: 2 * LIMBS + 2, code };
}

/**
 * mul2(dst, a, b, c, d): a b + c d with one reduction. All four carried, which keeps a column below 27 * 2^58 < 2^63.
 */
function twoProducts(): FunctionCode {
  const [C, D, limb, other, column] = [3, 4, 5, 5 + LIMBS, 5 + 2 * LIMBS];
  const [left, right, quotient] = [5 + 3 * LIMBS, 6 + 3 * LIMBS, 7 + 3 * LIMBS];
  const loads = indices.flatMap((j) => [
    ...[...get(B), ...load(8 * j), ...set(limb + j)],
    ...[...get(D), ...load(8 * j), ...set(other + j)],
  ]);
  const prepare = (row: number) => [
    ...get(A),
    ...load(8 * row),
    ...set(left),
    ...get(C),
    ...load(8 * row),
    ...set(right),
  ];
  const product = (factor: number, limbs: number) => (j: number) => [...get(factor), ...get(limbs + j), ...op.mul];
  const terms = () => indices.map((j) => [...product(left, limb)(j), ...product(right, other)(j), ...op.add]);
  const code = [
    ...loads,
    ...montgomery(column, quotient, terms, prepare),
    ...lastColumn(column),
    ...storeCarried(column),
  ];
  return { name: "mul2", parameters: 5, locals64: 3 * LIMBS + 3, code };
}

/** sqr(dst, a): row i adds a_i^2 and 2 a_i a_j for j > i, half the products of a multiplication. */
function squaring(): FunctionCode {
  const [limb, column, double, quotient] = [2, 2 + LIMBS, 2 + 2 * LIMBS, 3 + 2 * LIMBS];
  const loads = indices.flatMap((j) => [...get(A), ...load(8 * j), ...set(limb + j)]);
  const prepare = (row: number) => [...get(limb + row), ...const64(1n), ...op.shl, ...set(double)];
  const terms = (row: number) =>
    indices.map((j) => (j < row ? null : [...get(j === row ? limb + row : double), ...get(limb + j), ...op.mul]));
  const code = [
    ...loads,
    ...montgomery(column, quotient, terms, prepare),
    ...lastColumn(column),
    ...storeCarried(column),
  ];
  return { name: "sqr", parameters: 2, locals64: 2 * LIMBS + 2, code };
}

/** After nine rows eight columns are left; carrying fills the ninth. */
const lastColumn = (column: number): Code => [...const64(0n), ...set(column + LIMBS - 1)];

const limbwise = (operation: Code) => (i: number) => [
  ...get(A),
  ...load(8 * i),
  ...get(B),
  ...load(8 * i),
  ...operation,
];

const sums: Code = indices.flatMap((i) => [...limbwise(op.add)(i), ...set(4 + i)]);
const differences: Code = indices.flatMap((i) => [...limbwise(op.sub)(i), ...set(4 + LIMBS + i)]);

/** add(dst, a, b), carried so that a sum of sums still fits. */
function addition(): FunctionCode {
  return { name: "add", parameters: 3, locals64: LIMBS + 1, code: [...sums, ...storeCarried(4)] };
}

/** sub(dst, a, b) of two carried elements; the limbs of the result are not carried. */
function subtraction(): FunctionCode {
  const code = indices.flatMap((i) => [...get(DST), ...limbwise(op.sub)(i), ...store(8 * i)]);
  return { name: "sub", parameters: 3, code };
}

/** addsub(dst, a, b): a + b, and after it a - b, with one read of the operands. */
function both(): FunctionCode {
  const stored = indices.flatMap((i) => [...get(DST), ...get(4 + LIMBS + i), ...store(ELEMENT + 8 * i)]);
  return {
    name: "addsub",
    parameters: 3,
    locals64: 2 * LIMBS + 1,
    code: [...sums, ...differences, ...storeCarried(4), ...stored],
  };
}

/** split(dst, words): limbs of a number below 2^256 in four 64-bit words. */
function splitting(): FunctionCode {
  const code = indices.flatMap((i) => {
    const [word, shift] = [Math.floor((29 * i) / 64), BigInt((29 * i) % 64)];
    const low = [...get(A), ...load(8 * word), ...const64(shift), ...op.shrUnsigned];
    const spills = shift > 64n - LIMB_BITS && word < 3;
    const high = spills ? [...get(A), ...load(8 * word + 8), ...const64(64n - shift), ...op.shl, ...op.or] : [];
    return [...get(DST), ...low, ...high, ...masked, ...store(8 * i)];
  });
  return { name: "split", parameters: 2, code };
}

/** join(words, a): four 64-bit words of a carried element that is not negative. */
function joining(): FunctionCode {
  const code = [0, 1, 2, 3].flatMap((word) => {
    const parts = indices.flatMap((i) => {
      const shift = 29 * i - 64 * word;
      if (shift >= 64 || shift <= -29) return [];
      const distance = [...const64(BigInt(Math.abs(shift))), ...(shift >= 0 ? op.shl : op.shrUnsigned)];
      return [...get(A), ...load(8 * i), ...distance, ...op.or];
    });
    return [...get(DST), ...const64(0n), ...parts, ...store(8 * word)];
  });
  return { name: "join", parameters: 2, code };
}

/** In the order of their indices: `call(0)` multiplies. */
export const FIELD_FUNCTIONS: readonly FunctionCode[] = [
  multiplication(),
  squaring(),
  addition(),
  subtraction(),
  both(),
  twoProducts(),
  splitting(),
  joining(),
];
