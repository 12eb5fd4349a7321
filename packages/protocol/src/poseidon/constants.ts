import { invertFields, toField } from "../field.ts";
import { Grain } from "./grain.ts";
import { invertMatrix, type Matrix, matrixPower, multiplyMatrices } from "./matrix.ts";

/** Full rounds, half of them before and half after the partial rounds. */
export const FULL_ROUNDS = 8;

/** Partial rounds for t = 2 .. 17: circomlib's table (the Poseidon paper's values, rounded up to multiples of t). */
const PARTIAL_ROUNDS = [56, 57, 56, 60, 60, 63, 64, 63, 60, 66, 60, 65, 70, 60, 64, 68] as const;

/** One partial round after the sparse factorisation: an affine S-box on lane 0 and a matrix of 2t - 1 numbers. */
export interface SparseRound {
  readonly constant: bigint;
  /** Row 0 of the matrix. */
  readonly row: readonly bigint[];
  /** Column 0 below the corner; the rest of the matrix is the identity. */
  readonly column: readonly bigint[];
}

export interface PoseidonConstants {
  readonly width: number;
  /** Constants of the FULL_ROUNDS full rounds. */
  readonly full: readonly (readonly bigint[])[];
  readonly matrix: Matrix;
  /** Replaces `matrix` in the full round just before the partial ones. */
  readonly entry: Matrix;
  readonly partial: readonly SparseRound[];
}

/**
 * circomlib's constants for width `t`, made by the Grain LFSR of the Poseidon reference (generate_parameters_grain.sage
 * 1 0 254 t 8 RP p), then rearranged as in appendix B of the Poseidon paper so that a partial round costs 2t - 1
 * multiplications instead of t^2.
 *
 * Rearrangement. (1) In a partial round the S-box applies to lane 0 only, so the constants of the other lanes can be
 * multiplied by the matrix and moved into the next round. (2) With M = [[m, v], [w, H]] write M = S D, D = [[1, 0], [0,
 * H]], S = [[m, v H^-1], [w, I]]. D leaves lane 0 unchanged, so it commutes with the preceding round's S-box and
 * multiplies that round's M: D M = [[m, v], [H w, H^2]] and so on. The k-th round from the end has row (m, v H^-k) and
 * column H^(k-1) w; H^rounds remains for the preceding full round.
 */
function generate(width: number): PoseidonConstants {
  const partialRounds = PARTIAL_ROUNDS[width - 2]!;
  const grain = new Grain(width, FULL_ROUNDS, partialRounds);
  const roundConstants = Array.from({ length: FULL_ROUNDS + partialRounds }, () => grain.elements(width));
  const [xs, ys] = [grain.residues(width), grain.residues(width)];
  // A Cauchy matrix.
  const mds = xs.map((x) => invertFields(ys.map((y) => toField(x + y))));
  const apply = (lanes: readonly bigint[]) =>
    mds.map((row) => toField(row.reduce((sum, cell, j) => sum + cell * lanes[j]!, 0n)));

  const half = FULL_ROUNDS / 2;
  const constants: bigint[] = [];
  let carried = new Array<bigint>(width).fill(0n);
  for (let round = half; round < half + partialRounds; round++) {
    const lanes = roundConstants[round]!.map((constant, i) => toField(constant + carried[i]!));
    constants.push(lanes[0]!);
    carried = apply([0n, ...lanes.slice(1)]);
  }
  const after = roundConstants.slice(half + partialRounds);
  after[0] = after[0]!.map((constant, i) => toField(constant + carried[i]!));

  const corner = mds[0]![0]!;
  const inner = mds.slice(1).map((row) => row.slice(1));
  const innerInverse = invertMatrix(inner);
  let row = [mds[0]!.slice(1)];
  let column = mds.slice(1).map((cells) => [cells[0]!]);
  const partial: SparseRound[] = [];
  for (let round = partialRounds - 1; round >= 0; round--) {
    row = multiplyMatrices(row, innerInverse);
    partial.push({ constant: constants[round]!, row: [corner, ...row[0]!], column: column.map((cells) => cells[0]!) });
    column = multiplyMatrices(inner, column);
  }
  const entry = [mds[0]!, ...multiplyMatrices(matrixPower(inner, partialRounds), mds.slice(1))];
  return { width, full: [...roundConstants.slice(0, half), ...after], matrix: mds, entry, partial: partial.reverse() };
}

const cache = new Map<number, PoseidonConstants>();

/** Constants for `width` lanes (2 to 17), generated at first use, which takes tens of milliseconds, and then cached. */
export function poseidonConstants(width: number): PoseidonConstants {
  let constants = cache.get(width);
  if (constants === undefined) {
    constants = generate(width);
    cache.set(width, constants);
  }
  return constants;
}
