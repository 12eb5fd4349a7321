import { add, BASE8, multiply, negate, ORDER, type Point, toMontgomery } from "@sotto/certify/check/curve";
import { mod } from "@sotto/certify/check/field";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { gadget, list, prepare, run } from "../kit/gadget.ts";
import { ephemeralScalar } from "../model/encrypt.ts";
import { Random } from "../model/random.ts";
import { bitsOf } from "../model/tree.ts";

const random = new Random(4);
const point = () => multiply(BASE8, random.below(ORDER - 1n) + 1n);
const signs = (value: bigint, count: number, w = 1n) => bitsOf(value, count).map((bit) => mod(bit === 1n ? w : -w));
const ALL = 2n ** 249n - 1n;
/** Scalars at both ends of the range, in patterns, and at random. */
const SCALARS = [0n, 1n, ALL, ALL - 1n, 2n ** 248n, 2n ** 248n - 1n, ALL / 3n, (2n * ALL) / 3n, random.bits(249)];

const signsMain = gadget("lib/signs.circom", "Signs(249)");
const doubleAndAdd = gadget("lib/variable_base.circom", "DoubleAndAdd()");
const variable = gadget("lib/variable_base.circom", "VariableBase(249)");
const fixed = (windows: number) => gadget("lib/fixed_base.circom", `FixedBase(${windows})`);
const ephemeral = gadget("lib/ephemeral_point.circom", "EphemeralPoint()");
const amountPoint = gadget("lib/amount_point.circom", "AmountPoint()");

/** The sum of s_i 2^i Base8 over `count` signs. */
function signedSum(value: bigint, count: number): Point {
  const sum = 2n * value - (2n ** BigInt(count) - 1n);
  const absolute = multiply(BASE8, (sum < 0n ? -sum : sum) % ORDER);
  return sum < 0n ? negate(absolute) : absolute;
}

describe("scalar multiplication against @noble/curves", function () {
  slow(this, "circuits are compiled, and witnesses made");
  before(() => prepare(signsMain, doubleAndAdd, variable, fixed(21), fixed(83), ephemeral, amountPoint));

  it("has 3 * 2^249 - 1 as its largest scalar, which is below l", () => {
    expect(ephemeralScalar(ALL)).to.equal(3n * 2n ** 249n - 1n);
    expect(ephemeralScalar(ALL) < ORDER).to.equal(true);
  });

  it("turns bits into signs of v", async () => {
    for (const value of SCALARS) {
      const v = random.field();
      const read = await run(signsMain, { value, v, square: v * v });
      expect(list(read, "signs", 249)).to.deep.equal(signs(value, 249, v));
    }
  });

  it("doubles and adds", async () => {
    const base = point();
    const [u, v] = toMontgomery(base);
    for (const k of [2n, 3n, 100n, ORDER - 3n]) {
      const read = await run(doubleAndAdd, { sum: toMontgomery(multiply(base, k)), u, v });
      expect(list(read, "out", 2)).to.deep.equal(toMontgomery(multiply(base, (2n * k + 1n) % ORDER)));
    }
  });

  it("multiplies any point of order l by every edge value of the scalar", async () => {
    for (const scalar of SCALARS)
      for (const base of [BASE8, negate(BASE8), point()]) {
        const [u, v] = toMontgomery(base);
        const read = await run(variable, { base: [u, v], signs: signs(scalar, 249, v) });
        expect(list(read, "out", 2)).to.deep.equal(toMontgomery(multiply(base, ephemeralScalar(scalar))));
      }
  });

  it("multiplies the fixed base, on the curve and scaled", async () => {
    for (const [windows, start] of [
      [21, 2n ** 64n],
      [83, 2n ** 250n],
    ] as const)
      for (const w of [1n, random.field()]) {
        const bits = 3 * windows;
        for (const value of [0n, 2n ** BigInt(bits) - 1n, random.bits(bits)]) {
          const scale = ([U, V]: readonly bigint[]) => [mod(w * w * (U as bigint)), mod(w * w * w * (V as bigint))];
          const begin = multiply(BASE8, start);
          const read = await run(fixed(windows), {
            start: scale(toMontgomery(begin)),
            signs: signs(value, bits, w),
            square: w * w,
          });
          expect(list(read, "out", 2)).to.deep.equal(scale(toMontgomery(add(begin, signedSum(value, bits)))));
        }
      }
  });

  it("computes R = r Base8 for every edge value of the scalar", async () => {
    for (const scalar of SCALARS) {
      const v = random.field();
      const read = await run(ephemeral, { signs: signs(scalar, 249, v), v, square: v * v });
      expect(read("x")).to.equal(multiply(BASE8, ephemeralScalar(scalar)).x);
    }
  });

  it("computes amount Base8 for every edge value of 64 bits, including 0", async () => {
    for (const amount of [
      0n,
      1n,
      2n,
      3n,
      6n,
      7n,
      8n,
      2n ** 32n,
      2n ** 63n,
      2n ** 64n - 2n,
      2n ** 64n - 1n,
      random.bits(64),
    ]) {
      const expected = multiply(BASE8, amount);
      const read = await run(amountPoint, { bits: bitsOf(amount, 64) });
      expect(list(read, "point", 2), `${amount}`).to.deep.equal([expected.x, expected.y]);
    }
  });
});
