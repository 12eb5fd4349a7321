import { FIELD_MODULUS } from "../field.ts";
import { FULL_ROUNDS, poseidonConstants } from "./constants.ts";

const P = FIELD_MODULUS;

function sbox(lane: bigint): bigint {
  const square = (lane * lane) % P;
  return (((square * square) % P) * lane) % P;
}

function mix(lanes: bigint[], matrix: readonly (readonly bigint[])[], outputs: number): bigint[] {
  const mixed = new Array<bigint>(outputs);
  for (let i = 0; i < outputs; i++) {
    const row = matrix[i]!;
    let sum = 0n;
    for (let j = 0; j < lanes.length; j++) sum += row[j]! * lanes[j]!;
    mixed[i] = sum % P;
  }
  return mixed;
}

/**
 * The first `outputs` lanes of the Poseidon permutation of `state` (2 to 17 canonical lanes, capacity first).
 * Reduction is the expensive step for bigints, so a sum of products is reduced once, and in the partial rounds lanes 1
 * and up are reduced only at the end: each round adds one product below p^2, so a lane stays below 520 bits.
 */
export function permuteWithBigInts(state: readonly bigint[], outputs: number): bigint[] {
  const { width, full, matrix, entry, partial } = poseidonConstants(state.length);
  const half = FULL_ROUNDS / 2;
  let lanes = [...state];
  for (let round = 0; round < half; round++) {
    for (let i = 0; i < width; i++) lanes[i] = sbox(lanes[i]! + full[round]![i]!);
    lanes = mix(lanes, round === half - 1 ? entry : matrix, width);
  }
  for (const { constant, row, column } of partial) {
    const first = sbox(lanes[0]! + constant);
    let sum = row[0]! * first;
    for (let j = 1; j < width; j++) {
      const lane = lanes[j]!;
      sum += row[j]! * lane;
      lanes[j] = lane + column[j - 1]! * first;
    }
    lanes[0] = sum % P;
  }
  for (let round = half; round < FULL_ROUNDS; round++) {
    // After the partial rounds the lanes are unreduced. Reduce first, so that the S-box does not square 520 bits.
    for (let i = 0; i < width; i++) lanes[i] = sbox((lanes[i]! + full[round]![i]!) % P);
    lanes = mix(lanes, matrix, round === FULL_ROUNDS - 1 ? outputs : width);
  }
  return lanes;
}
