import { FIELD_MODULUS } from "../field.ts";
import { type Code, type FunctionCode, op } from "./assembler.ts";
import { A, B, carry, indices, LIMB_BITS, LIMBS, MASK, masked, storeCarried } from "./limb-code.ts";

const MODULUS = indices.map((i) => (FIELD_MODULUS >> (LIMB_BITS * BigInt(i))) & MASK);

/** -1 / p modulo 2^29: there p = 1 + 2^28, and p^2 = 1. */
const NEGATIVE_INVERSE = -MODULUS[0]! & MASK;

const { get, set, load, const64 } = op;

/**
 * Montgomery multiplication, row by row: `terms(i)` returns, for each column, the code of the term that row i adds (or null).
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
    // Column 8 is empty at the start of each row; before row 0 all columns are empty.
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
 * mul2(dst, a, b, c, d): a b + c d with one reduction. All four operands must be carried, which keeps a column below 27
 * * 2^58 < 2^63.
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

export const PRODUCT_FUNCTIONS: readonly FunctionCode[] = [multiplication(), squaring(), twoProducts()];
