import { fromLimbs, Kernel, LIMBS, MONTGOMERY_BITS, PAIR_BYTES, toLimbs } from "@sotto/groth16/kernel";
import { LADDER_CURVE, FIELD_MODULUS as p } from "@sotto/protocol";
import { randomBelow } from "@sotto/test-kit/random-below";
import { assert } from "chai";
import { BIT_BYTES, compileLadderKernel, LADDER_PAIRS } from "../src/scan/ladder-kernel.ts";

const ROUNDS = process.env["SOTTO_LONG"] === "1" ? 20_000 : 1_000;
const STEPS = 6;
const R = 1n << MONTGOMERY_BITS;

type Numbers = readonly [bigint, bigint, bigint, bigint];

const modulo = (value: bigint): bigint => ((value % p) + p) % p;
const inverse = (() => {
  let value = 1n;
  for (let bit = 0n; bit < MONTGOMERY_BITS; bit++) value = (value % 2n === 0n ? value : value + p) / 2n;
  return value;
})();
const multiply = (a: bigint, b: bigint): bigint => modulo(a * b * inverse);

/** A step of the ladder on numbers in Montgomery form. */
function step([u0, w0, u1, w1]: Numbers, base: bigint, a24: bigint, second: boolean): Numbers {
  const [u, w] = second ? [u1, w1] : [u0, w0];
  const [plus, minus] = [multiply(u + w, u + w), multiply(u - w, u - w)];
  const [left, right] = [multiply(u1 - w1, u0 + w0), multiply(u1 + w1, u0 - w0)];
  return [
    multiply(plus, minus),
    multiply(plus - minus, minus + multiply(a24, plus - minus)),
    multiply(left + right, left + right),
    multiply(base, multiply(left - right, left - right)),
  ];
}

describe("the ladder's kernel", () => {
  it("takes steps like bigints, from coordinates at the limits of their range", async () => {
    const kernel = await Kernel.instantiate(compileLadderKernel(p));
    const points = kernel.allocate(LADDER_PAIRS * PAIR_BYTES);
    const bits = kernel.allocate((STEPS + 1) * BIT_BYTES);
    const a24 = (LADDER_CURVE.a24 * R) % p;
    const factor = kernel.allocatePair(a24);
    const edges = [0n, 1n, 2n, p >> 1n, p - 2n, p - 1n, (1n << 204n) - 1n, 1n << 204n, ((p >> 204n) << 204n) - 1n];
    const coordinate = (bound: bigint): bigint => {
      const edge = edges[Number(randomBelow(BigInt(2 * edges.length)))];
      const value = edge !== undefined && edge < bound ? edge : randomBelow(bound);
      return randomBelow(2n) === 0n ? value : -value;
    };
    for (let round = 0; round < ROUNDS; round++) {
      // U and W are below p in absolute value, and the difference's u is below p / 2.
      const lanes = [0, 1].map(() => [p, p, p, p, p >> 1n].map(coordinate) as [bigint, bigint, bigint, bigint, bigint]);
      const doubles = kernel.doubles(points, LADDER_PAIRS * 2 * LIMBS);
      for (const [lane, numbers] of lanes.entries())
        for (const [pair, number] of numbers.entries())
          for (const [limb, double] of limbsOf(number).entries()) doubles[(pair * LIMBS + limb) * 2 + lane] = double;
      const masks = Array.from({ length: STEPS + 1 }, () => randomBelow(2n) === 1n);
      for (const [index, mask] of masks.entries()) kernel.words(bits + index * BIT_BYTES, 4).fill(mask ? -1 : 0);
      kernel.call("ladder", points, points + LADDER_PAIRS * PAIR_BYTES, bits, bits + STEPS * BIT_BYTES, factor);
      for (const [lane, [u0, w0, u1, w1, base]] of lanes.entries()) {
        let expected: Numbers = [u0, w0, u1, w1];
        for (const mask of masks.slice(0, STEPS)) expected = step(expected, base, a24, mask);
        if (masks[STEPS]) expected = [expected[2], expected[3], expected[0], expected[1]];
        const found = [0, 1, 2, 3].map((pair) =>
          fromLimbs(Array.from({ length: LIMBS }, (_, limb) => doubles[(pair * LIMBS + limb) * 2 + lane]!)),
        );
        assert.deepEqual(found.map(modulo), [...expected]);
        // The bounds of a result are those of an operand, so they hold for any number of steps.
        assert.isTrue(found.every((number) => number < p && number > -p));
      }
    }
  });
});

/** Limbs as products have them: all but the last from 0 to 2^51. */
function limbsOf(value: bigint): number[] {
  if (value >= 0n) return toLimbs(value);
  const radix = 1n << 204n;
  const top = -((-value + radix - 1n) / radix);
  return [...toLimbs(value - top * radix).slice(0, LIMBS - 1), Number(top)];
}
