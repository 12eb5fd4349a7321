import { subtractField, toField } from "../field.ts";
import { assertInteger } from "../validate.ts";
import { FULL_ROUNDS, poseidonConstants } from "./constants.ts";
import { invertMatrix, type Matrix, matrixPower, multiplyMatrices } from "./matrix.ts";

/**
 * Poseidon's permutation for kernels that sum many products with one reduction. The full rounds are as usual, but the
 * partial rounds are a linear recurrence: with u_k the input of the k-th S-box, y_k its output, and n = width - 1,
 *
 *     u_(k+1) = b_0 y_k + a_1 u_k + b_1 y_(k-1) + ... + a_n u_(k-n+1) + b_n y_(k-n) + constant
 *
 * The sum has 2 n + 1 products, as many as a round of `poseidonConstants`, but needs one reduction instead of n + 1. A round
 * reads the end of the history y_(-n), u_(1-n), y_(1-n), ..., u_0, y_0, u_1, y_1, ..., in which u_(1-n) to u_(-1) are 0.
 */
export interface PoseidonRecurrence {
  /** Constants of each full round, one per lane. */
  readonly full: Matrix;
  /** Matrix of each full round, except for the one before the partial rounds. */
  readonly matrix: Matrix;
  /** Matrix of the full round before the partial rounds: its rows, plus `entryConstants`, are u_0, y_(-1), ..., y_(-n). */
  readonly entry: Matrix;
  /** One for each row of `entry`. */
  readonly entryConstants: readonly bigint[];
  /** b_n, a_n, ..., b_1, a_1, b_0. */
  readonly coefficients: readonly bigint[];
  /** Constant of each partial round: the k-th one belongs to u_(k+1). */
  readonly partial: readonly bigint[];
  /**
   * Lanes 1 to n after the partial rounds as combinations of the last 2 n numbers of the history, which ends with the last u.
   * That u is lane 0.
   */
  readonly exit: Matrix;
}

const sum = (terms: readonly bigint[]): bigint => terms.reduce((total, term) => total + term, 0n);

/**
 * The recurrence follows from the matrix [[m, v], [w, H]]. With z_k the lanes 1 to n before the k-th partial round,
 *
 *     u_(k+1) = m y_k + v z_k + c_(k+1)        z_(k+1) = w y_k + H z_k
 *
 * because only lane 0 has an S-box and a constant c (see `poseidonConstants`; after the last round c is 0).
 *
 * Coefficients. H^n = a_1 H^(n-1) + ... + a_n (its characteristic polynomial). So the part of v z_k that comes from z_(k-n)
 * is the same combination of the u before, and y_(k-n) to y_k determine the rest: b is the response m, v w, v H w, ... to a
 * single y, from which that combination is subtracted.
 *
 * Entry. For the first n rounds, the history is made up: the u before u_0 are 0, and the y before y_0 are those for which
 * the recurrence has the right results. They are linear in u_0 and z_0.
 *
 * Exit. The last n of the u determine v z, v H z, ..., v H^(n-1) z for the z of n rounds before the end, except for parts
 * that come from the y. So they determine that z, and with the last n of the y also the last z.
 * @param width 2 to 17 lanes
 * @throws SottoError INVALID_INTEGER
 */
export function poseidonRecurrence(width: number): PoseidonRecurrence {
  assertInteger(width, 2, 17, "width");
  const { full, matrix, partial } = poseidonConstants(width);
  const n = width - 1;
  const belowN = Array.from({ length: n }, (_, i) => i);
  const v = matrix[0]!.slice(1);
  const inner = matrix.slice(1).map((row) => row.slice(1));
  // v H^i; H^i w as columns; the response of u to a y, in the rounds after it.
  const rows: Matrix[number][] = [v];
  const columns: Matrix[] = [matrix.slice(1).map((row) => [row[0]!])];
  const responses = [[matrix[0]![0]!]];
  for (const i of belowN) {
    rows.push(multiplyMatrices([rows[i]!], inner)[0]!);
    columns.push(multiplyMatrices(inner, columns[i]!));
    responses.push(multiplyMatrices([v], columns[i]!)[0]!);
  }
  const fromRows = invertMatrix(rows.slice(0, n));
  /** a_1 to a_n */
  const a = multiplyMatrices([rows[n]!], fromRows)[0]!.reverse();
  /** Subtracts from each vector the combination of the up to n vectors before it. */
  const residuals = (vectors: Matrix): bigint[][] =>
    vectors.map((vector, k) =>
      vector.map((cell, j) =>
        subtractField(cell, sum(a.slice(0, k).map((factor, i) => factor * vectors[k - 1 - i]![j]!))),
      ),
    );
  const b = residuals(responses).map(([value]) => value!);
  const constants = [...partial.map(({ constant }) => constant), 0n];

  // In round k < n, the y before y_0 must add the residual of v H^k times z_0, without a_(k+1) u_0, which the recurrence adds.
  const fromHistory = invertMatrix(belowN.map((k) => belowN.map((j) => b[k + j + 1] ?? 0n)));
  const needed = residuals(rows.slice(0, n)).map((row, k) => [-a[k]!, ...row]);
  const entryRows = multiplyMatrices(fromHistory, needed);

  // With x = u - c, row q of `responses` gives v H^q z = x_(q+1) - (responses to y_q, ..., y_0), rounds counted from that z.
  const fromInputs = multiplyMatrices(matrixPower(inner, n), fromRows);
  const exit = fromInputs.map((row, lane) =>
    belowN.flatMap((j) => {
      const past = sum(row.slice(j).map((factor, i) => factor * responses[i]![0]!));
      return [subtractField(columns[n - 1 - j]![lane]![0]!, past), row[j]!];
    }),
  );
  const lastConstants = constants.slice(-n);
  const offsets = [0n, ...fromInputs.map((row) => sum(row.map((factor, i) => factor * lastConstants[i]!)))];
  return {
    full: full.map((lanes, round) =>
      round === FULL_ROUNDS / 2 ? lanes.map((constant, lane) => subtractField(constant, offsets[lane]!)) : lanes,
    ),
    matrix,
    entry: [matrix[0]!, ...multiplyMatrices(entryRows, matrix)],
    entryConstants: [constants[0]!, ...entryRows.map((row) => toField(row[0]! * constants[0]!))],
    coefficients: belowN.flatMap((i) => [b[n - i]!, a[n - 1 - i]!]).concat(b[0]!),
    partial: residuals(constants.slice(1).map((constant) => [constant])).map(([value]) => value!),
    exit,
  };
}
