import fc from "fast-check";
import { FIELD_MODULUS, MAX_AMOUNT, SUBGROUP_ORDER } from "../../src/index.ts";

/** A bigint from 0 to `max`, often at the edges of the range, where carries and reductions go wrong. */
function edged(max: bigint): fc.Arbitrary<bigint> {
  const edges = [0n, 1n, 2n, max - 1n, max].map((value) => fc.constant(value));
  return fc.oneof(
    { weight: 4, arbitrary: fc.bigInt({ min: 0n, max }) },
    ...edges.map((arbitrary) => ({ weight: 1, arbitrary })),
  );
}

export const field = edged(FIELD_MODULUS - 1n);
export const amount = edged(MAX_AMOUNT);
/** In [0, l). */
export const scalar = edged(SUBGROUP_ORDER - 1n);
/** b of an encryption, in [0, 2^249). */
export const encryptionScalar = edged((1n << 249n) - 1n);

/** Number of runs of a property test; 20 times as many with SOTTO_LONG=1. */
export const runs = (count: number) => ({ numRuns: process.env["SOTTO_LONG"] === "1" ? count * 20 : count });
