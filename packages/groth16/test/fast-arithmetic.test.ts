import { bn254 } from "@noble/curves/bn254.js";
import { randomBelow } from "@sotto/test-kit/random-below";
import { slow } from "@sotto/test-kit/slow";
import { assert } from "chai";
import { PAIR_BYTES } from "../src/fast/constants.ts";
import { assembleCurveKernel } from "../src/fast/curve-kernel.ts";
import { compileCode, Kernel } from "../src/fast/kernel.ts";
import { COORDINATE_BYTES, type Degree, pointBytes, scratchBytes } from "../src/fast/layout.ts";
import { fromLimbs, importFactor, LIMBS, MONTGOMERY_BITS, negativeInverse, toLimbs } from "../src/fast/limbs.ts";
import { readPoint } from "../src/fast/points.ts";
import { assembleScalarKernel } from "../src/fast/scalar-kernel.ts";
import { hasFusedMultiplyAdd } from "../src/fast/support.ts";
import { BASE_FIELD_ORDER as q, SCALAR_FIELD_ORDER as r } from "../src/proof/orders.ts";

/** Number of random cases. */
const ROUNDS = process.env["SOTTO_LONG"] === "1" ? 20_000 : 500;

/** Values around every boundary at which a carry or a reduction could go wrong. */
function edges(modulus: bigint): bigint[] {
  const small = [0n, 1n, 2n, 5n];
  const powers = [50n, 51n, 52n, 102n, 153n, 204n, 253n].flatMap((bit) => [1n << bit, (1n << bit) - 1n]);
  const all = [...small, ...powers, ...small.map((value) => modulus - 1n - value), modulus >> 1n, (modulus >> 1n) + 1n];
  return all.filter((value) => value < modulus);
}

function writePair(kernel: Kernel, address: number, lanes: readonly [bigint, bigint]): void {
  const doubles = kernel.doubles(address, 2 * LIMBS);
  for (const [lane, value] of lanes.entries()) {
    for (const [limb, double] of toLimbs(value).entries()) doubles[2 * limb + lane] = double;
  }
}

function readPair(kernel: Kernel, address: number): [bigint, bigint] {
  const doubles = kernel.doubles(address, 2 * LIMBS);
  const lane = (index: number): bigint =>
    fromLimbs(Array.from({ length: LIMBS }, (_, limb) => doubles[2 * limb + index] ?? 0));
  return [lane(0), lane(1)];
}

describe("fast engine: field arithmetic in doubles", function () {
  slow(this, "a circuit is compiled, and proofs made");
  it("runs on this machine", () => {
    assert.isTrue(hasFusedMultiplyAdd(), "the tests of the fast engine need relaxed SIMD and fused multiply-add");
  });

  it("finds -1/p mod 2^51", () => {
    for (const modulus of [q, r]) assert.equal((negativeInverse(modulus) * modulus + 1n) % (1n << 51n), 0n);
  });

  for (const [name, modulus, assemble] of [
    ["base", q, assembleCurveKernel],
    ["scalar", r, assembleScalarKernel],
  ] as const) {
    it(`multiplies in the ${name} field like bigints, including at the edges`, async () => {
      const kernel = await Kernel.instantiate(compileCode(assemble(modulus)));
      const [a, b, out] = [
        kernel.allocate(PAIR_BYTES),
        kernel.allocate(PAIR_BYTES),
        kernel.allocate(PAIR_BYTES),
      ] as const;
      const check = (left: [bigint, bigint], right: [bigint, bigint]): void => {
        writePair(kernel, a, left);
        writePair(kernel, b, right);
        kernel.call("multiply", out, a, b);
        for (const [lane, value] of readPair(kernel, out).entries()) {
          const difference = (value << MONTGOMERY_BITS) - (left[lane] ?? 0n) * (right[lane] ?? 0n);
          assert.equal(difference % modulus, 0n, `${left[lane]} times ${right[lane]}`);
          // The kernels' ranges rely on this bound: within half a modulus of the product over R.
          assert.isTrue(value < modulus && value > -modulus);
        }
      };
      const values = edges(modulus);
      for (const left of values) for (const right of values) check([left, right], [right, modulus - 1n]);
      const random = (): [bigint, bigint] => [randomBelow(modulus), randomBelow(modulus)];
      for (let round = 0; round < ROUNDS; round++) check(random(), random());
    });

    it(`multiplies uncarried differences in the ${name} field`, async () => {
      const kernel = await Kernel.instantiate(compileCode(assemble(modulus)));
      const [a, b, out] = [
        kernel.allocate(PAIR_BYTES),
        kernel.allocate(PAIR_BYTES),
        kernel.allocate(PAIR_BYTES),
      ] as const;
      const difference = (address: number, left: bigint, right: bigint): bigint => {
        const limbs = toLimbs(left).map((limb, index) => limb - (toLimbs(right)[index] ?? 0));
        for (const [limb, double] of limbs.entries()) kernel.doubles(address + 16 * limb, 2).fill(double);
        return left - right;
      };
      const values = [...edges(modulus), ...Array.from({ length: 30 }, () => randomBelow(modulus))];
      for (const left of values) {
        for (const right of values) {
          const product = difference(a, left, right) * difference(b, right, left);
          kernel.call("multiply", out, a, b);
          const [first, second] = readPair(kernel, out);
          assert.equal(((first << MONTGOMERY_BITS) - product) % modulus, 0n);
          assert.equal(second, first);
        }
      }
    });

    it(`inverts in the ${name} field, and leaves 0 at 0`, async () => {
      const kernel = await Kernel.instantiate(compileCode(assemble(modulus)));
      const [a, out] = [kernel.allocate(PAIR_BYTES), kernel.allocate(PAIR_BYTES)] as const;
      const values = [...edges(modulus), ...Array.from({ length: 20 }, () => randomBelow(modulus))];
      for (const value of values) {
        writePair(kernel, a, [value, 1n]);
        kernel.call("invert", out, a);
        const [inverse] = readPair(kernel, out);
        const product = (inverse * value - (value === 0n ? 0n : 1n << (2n * MONTGOMERY_BITS))) % modulus;
        assert.equal(product, 0n, String(value));
      }
    });

    it(`converts numbers of the ${name} field from files`, async () => {
      const kernel = await Kernel.instantiate(compileCode(assemble(modulus)));
      const values = [...edges(modulus), ...Array.from({ length: 50 }, () => randomBelow(modulus))];
      const [from, to] = [
        kernel.allocate(32 * values.length),
        kernel.allocate(COORDINATE_BYTES * values.length),
      ] as const;
      const factor = kernel.allocatePair(importFactor(modulus, 256n));
      for (const [index, value] of values.entries()) {
        const file = (value << 256n) % modulus;
        const bytes = Array.from({ length: 32 }, (_, byte) => Number((file >> BigInt(8 * byte)) & 255n));
        kernel.bytes(from + 32 * index, 32).set(bytes);
      }
      kernel.call("import", from, to, values.length, factor);
      for (const [index, value] of values.entries()) {
        assert.equal(kernel.read(to + COORDINATE_BYTES * index), value);
        const limbs = kernel.doubles(to + COORDINATE_BYTES * index, LIMBS);
        assert.isTrue(
          limbs.every((limb) => limb >= 0 && limb < 2 ** 51),
          "elements in memory are canonical",
        );
      }
    });
  }
});

describe("fast engine: adding points in batches", function () {
  slow(this, "a circuit is compiled, and proofs made");
  const coordinates = (degree: Degree, k: bigint): bigint[] => {
    if (k === 0n) return Array.from({ length: 2 * degree }, () => 0n);
    if (degree === 1) {
      const { x, y } = bn254.G1.Point.BASE.multiply(k).toAffine();
      return [x, y];
    }
    const { x, y } = bn254.G2.Point.BASE.multiply(k).toAffine();
    return [x.c0, x.c1, y.c0, y.c1];
  };

  for (const degree of [1, 2] as const) {
    it(`agrees with @noble/curves in G${degree} for every mix of signs, and reports exceptional additions`, async () => {
      const kernel = await Kernel.instantiate(compileCode(assembleCurveKernel(q)));
      const count = 64;
      const scalars = Array.from({ length: 2 * count }, () => 1n + randomBelow(r - 1n));
      // Pair 7 is a doubling, pair 20 a point and its opposite; pair 33 has infinity on the left, pair 46 on the right.
      scalars[15] = scalars[14]!;
      scalars[41] = r - scalars[40]!;
      scalars[66] = 0n;
      scalars[93] = 0n;
      const base = kernel.allocate(scalars.length * pointBytes(degree));
      const address = (index: number): number => base + index * pointBytes(degree);
      for (const [index, scalar] of scalars.entries()) {
        for (const [place, part] of coordinates(degree, scalar).entries()) {
          kernel.write(address(index) + place * COORDINATE_BYTES, part);
        }
      }
      const sign = (index: number): number => (Math.floor(index / 2) % 13 === 7 ? 0 : (index ^ (index >> 2)) & 1);
      const [pairs, out] = [kernel.allocate(8 * count), kernel.allocate(count * pointBytes(degree))] as const;
      const [scratch, exceptions] = [
        kernel.allocate((count / 2) * scratchBytes(degree)),
        kernel.allocate(4 * count),
      ] as const;
      kernel.words(pairs, 2 * count).set(scalars.map((_, index) => address(index) | sign(index)));
      const found = kernel.call(`add${degree}`, pairs, count / 2, out, scratch, exceptions);
      assert.deepEqual([...kernel.words(exceptions, found)], [3, 10, 16, 23]);
      for (let pair = 0; pair < count; pair++) {
        if ([3, 10, 16, 23].includes(pair >> 1)) continue;
        const signed = [2 * pair, 2 * pair + 1].map((index) => (sign(index) ? r - scalars[index]! : scalars[index]!));
        const expected = coordinates(degree, (signed[0]! + signed[1]!) % r);
        assert.deepEqual(readPoint(kernel, degree, out + pair * pointBytes(degree)), expected, `pair ${pair}`);
      }
    });
  }
});
