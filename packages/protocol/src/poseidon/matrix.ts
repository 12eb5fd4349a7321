// Matrices over the field, as arrays of rows, for the rearrangements of Poseidon's rounds.
import { invertField, multiplyField, subtractField, toField } from "../field.ts";

export type Matrix = readonly (readonly bigint[])[];

/** a b */
export function multiplyMatrices(a: Matrix, b: Matrix): bigint[][] {
  return a.map((row) => b[0]!.map((_, j) => toField(row.reduce((sum, cell, k) => sum + cell * b[k]![j]!, 0n))));
}

/** @param exponent at least 1 */
export function matrixPower(matrix: Matrix, exponent: number): Matrix {
  if (exponent === 1) return matrix;
  const half = matrixPower(matrix, exponent >> 1);
  const square = multiplyMatrices(half, half);
  return exponent % 2 === 0 ? square : multiplyMatrices(square, matrix);
}

/** Inverts by Gauss and Jordan's elimination. `matrix` must be invertible, so that a pivot is always found. */
export function invertMatrix(matrix: Matrix): bigint[][] {
  const size = matrix.length;
  const rows = matrix.map((row, i) => [...row, ...row.map((_, j) => (i === j ? 1n : 0n))]);
  for (let column = 0; column < size; column++) {
    const pivot = rows.findIndex((row, i) => i >= column && row[column] !== 0n);
    [rows[column], rows[pivot]] = [rows[pivot]!, rows[column]!];
    const scale = invertField(rows[column]![column]!);
    rows[column] = rows[column]!.map((cell) => multiplyField(cell, scale));
    for (let i = 0; i < size; i++) {
      const factor = rows[i]![column]!;
      if (i === column || factor === 0n) continue;
      rows[i] = rows[i]!.map((cell, j) => subtractField(cell, factor * rows[column]![j]!));
    }
  }
  return rows.map((row) => row.slice(size));
}
