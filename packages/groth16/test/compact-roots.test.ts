import { randomBelow } from "@sotto/test-kit/random-below";
import { slow } from "@sotto/test-kit/slow";
import { assert } from "chai";
import { newFrame, SLOT } from "../src/compact/root-frame.ts";
import { assembleRootKernel } from "../src/compact/root-kernel.ts";
import { definePower } from "../src/compact/root-power.ts";
import { ODD, pointsOf } from "../src/compact/roots.ts";
import { compileKernel, type Write } from "../src/fast/assemble-kernel.ts";
import { PAIR_BYTES } from "../src/fast/constants.ts";
import { exactProducts } from "../src/fast/exact-products.ts";
import { compileCode, Kernel, power } from "../src/fast/kernel.ts";
import type { Degree } from "../src/fast/layout.ts";
import { fromLimbs, LIMBS, MONTGOMERY_BITS, toLimbs } from "../src/fast/limbs.ts";
import { BASE_FIELD_ORDER as q } from "../src/proof/orders.ts";
import { toBytes } from "./support/sections.ts";

/** Random x-coordinates of each group, half of which have a point. */
const ROUNDS = process.env["SOTTO_LONG"] === "1" ? 10_000 : 200;
const EXPONENT = (q - 3n) / 4n;
/** Montgomery's R of files. */
const R = 1n << 256n;

/** a + b·i; in Fq, b is 0. */
type Element = readonly [bigint, bigint];

const mod = (value: bigint): bigint => ((value % q) + q) % q;
const multiply = ([a, b]: Element, [c, d]: Element): Element => [mod(a * c - b * d), mod(a * d + b * c)];
const isSquare = (value: bigint): boolean => value === 0n || power(value, (q - 1n) / 2n, q) === 1n;
const inverse82 = power(82n, q - 2n, q);
const B: Readonly<Record<Degree, Element>> = { 1: [3n, 0n], 2: [mod(27n * inverse82), mod(-3n * inverse82)] };

/** x^3 + b. */
function rightSide(degree: Degree, x: Element): Element {
  const [a, b] = multiply(multiply(x, x), x);
  return [mod(a + B[degree][0]), mod(b + B[degree][1])];
}

/** In Fq2, a square is an element whose norm is a square in Fq. */
const hasRoot = (degree: Degree, [a, b]: Element): boolean => isSquare(degree === 1 ? a : mod(a * a + b * b));

const toFile = (value: bigint): bigint => (value * R) % q;
const fromFile = (bytes: Uint8Array): bigint => {
  const value = BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`);
  assert.isTrue(value < q, "a coordinate is not canonical");
  return (value * power(R, q - 2n, q)) % q;
};

/** @param isOdd whether the first part of y is odd in the file */
function pack(degree: Degree, x: Element, isOdd: boolean): Uint8Array {
  const bytes = Uint8Array.from(x.slice(0, degree).flatMap((part) => [...toBytes(toFile(part))]));
  if (isOdd) bytes[bytes.length - 1] = (bytes[bytes.length - 1] as number) | ODD;
  return bytes;
}

const edges = [0n, 1n, 2n, 3n, 4n, 5n, (1n << 51n) - 1n, 1n << 51n, 1n << 102n, 1n << 204n, 1n << 253n, q >> 1n];
const values = [...edges, ...edges.map((value) => mod(-value))];

for (const [name, makeProducts] of [
  ["fused multiply-add", undefined],
  ["plain SIMD", exactProducts],
] as const)
  describe(`points of compact keys, with ${name}`, function () {
    slow(this, "bigints compute roots for comparison");
    const program = compileCode(assembleRootKernel(q, makeProducts));

    it("raises to (p - 3)/4 like bigints, also bases above the modulus and below zero", async () => {
      const frames: number[] = [];
      const write: Write = (module, field) => {
        frames.push(newFrame(field), newFrame(field));
        definePower(module, field, frames as [number, number]);
      };
      const kernel = await Kernel.instantiate(compileKernel(q, write, makeProducts));
      const laneOf = (index: number, slot: number): { doubles: Float64Array; lane: number } => {
        const address = (frames[index >> 1] as number) + slot * PAIR_BYTES;
        return { doubles: kernel.doubles(address, 2 * LIMBS), lane: index & 1 };
      };
      const inverseR = power(power(2n, MONTGOMERY_BITS, q), q - 2n, q);
      const check = (bases: readonly bigint[]): void => {
        for (const [index, base] of bases.entries()) {
          const { doubles, lane } = laneOf(index, SLOT.base);
          const sign = base < 0n ? -1 : 1;
          for (const [limb, double] of toLimbs(base * BigInt(sign)).entries()) doubles[2 * limb + lane] = sign * double;
        }
        kernel.call("raise");
        for (const [index, base] of bases.entries()) {
          const { doubles, lane } = laneOf(index, SLOT.power);
          const found = fromLimbs(Array.from({ length: LIMBS }, (_, limb) => doubles[2 * limb + lane] ?? 0));
          const bound = (q * 114n) / 100n;
          assert.isTrue(found < bound && found > -bound, "the power is not within the bound that the comment states");
          assert.equal(mod(found * inverseR), power(mod(base * inverseR), EXPONENT, q));
        }
      };
      // The bound of a base is 1.3 p.
      const top = (q * 13n) / 10n - 1n;
      for (const value of [...values, top]) check([value, -value, top - value, value - top]);
      for (let round = 0; round < ROUNDS; round++) check(Array.from({ length: 4 }, () => randomBelow(2n * top) - top));
    });

    for (const degree of [1, 2] as const)
      it(`finds the points of an x in G${degree}, and no others`, async () => {
        let found = 0;
        const check = async (x: Element): Promise<void> => {
          const right = rightSide(degree, x);
          for (const isOdd of [false, true]) {
            const point = await pointsOf(program, degree, pack(degree, x, isOdd));
            // The kernel does not find the root of an element of Fq that has none there; a key has no such point.
            if (degree === 2 && right[1] === 0n) continue;
            assert.equal(point !== undefined, hasRoot(degree, right), `x = ${x.join(" + i·")}`);
            if (point === undefined) continue;
            found += 1;
            const part = (index: number): bigint => fromFile(point.subarray(32 * index, 32 * index + 32));
            const [x0, x1, y0, y1] = degree === 1 ? [part(0), 0n, part(1), 0n] : [part(0), part(1), part(2), part(3)];
            assert.deepEqual([x0, x1], [...x]);
            assert.deepEqual(multiply([y0, y1], [y0, y1]), right);
            assert.equal(((point[32 * degree] as number) & 1) === 1, isOdd);
          }
        };
        for (const value of values) {
          await check([value, 0n]);
          if (degree === 2) await check([value, 1n]);
          if (degree === 2) await check([0n, value]);
        }
        for (let round = 0; round < ROUNDS; round++) await check([randomBelow(q), degree === 1 ? 0n : randomBelow(q)]);
        assert.isAbove(found, ROUNDS / 2);
      });

    for (const degree of [1, 2] as const)
      it(`keeps the order of points in G${degree}, and refuses all if one has no root`, async () => {
        const good: Uint8Array[] = [];
        const bad: Uint8Array[] = [];
        while (good.length < 9 || bad.length < 1) {
          const x = [randomBelow(q), degree === 1 ? 0n : randomBelow(q)] as const;
          (hasRoot(degree, rightSide(degree, x)) ? good : bad).push(pack(degree, x, good.length % 3 === 0));
        }
        for (let count = 1; count <= 9; count++) {
          const some = good.slice(0, count);
          const together = await pointsOf(program, degree, Buffer.concat(some));
          const alone = await Promise.all(some.map((one) => pointsOf(program, degree, one)));
          assert.deepEqual(together, new Uint8Array(Buffer.concat(alone as Uint8Array[])));
          for (let place = 0; place < count; place++) {
            const mixed = Buffer.concat(some.with(place, bad[0] as Uint8Array));
            assert.isUndefined(await pointsOf(program, degree, mixed), `${place} of ${count}`);
          }
        }
      });

    it("refuses an x that is not below the modulus", async () => {
      const usable = pack(1, [1n, 0n], false);
      assert.isDefined(await pointsOf(program, 1, usable));
      const alias = toBytes(toFile(1n) + q);
      assert.isUndefined(await pointsOf(program, 1, alias));
    });
  });
