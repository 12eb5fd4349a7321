import { randomBytes } from "node:crypto";
import { bytesToBigInt } from "@sotto/protocol/extend";
import { expectCode } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { inverse, inverses } from "../../src/core/inverse.ts";

const random = (bits: number): bigint =>
  bytesToBigInt(new Uint8Array(randomBytes(Math.ceil(bits / 8)))) >> BigInt((8 - (bits % 8)) % 8);

const gcd = (a: bigint, b: bigint): bigint => (b === 0n ? a : gcd(b, a % b));

/** Whether `inverse` says of x and n what the definition says. */
const isRight = (x: bigint, n: bigint): boolean => {
  const found = inverse(x, n);
  if (found === undefined) return gcd(x, n) !== 1n;
  return found >= 0n && found < n && (found * x) % n === 1n % n;
};

describe("the inverse of an integer", function () {
  slow(this, "hundreds of thousands of inversions");
  it("is right for random values of every size up to 4,096 bits", () => {
    for (let i = 0; i < 3_000; i += 1) {
      const n = random(2 + (i % 4_095)) + 2n;
      expect(isRight(random(1 + ((i * 7) % 4_096)), n), `${n}`).to.equal(true);
    }
  });

  it("is right for all small values", () => {
    for (let n = 2n; n < 120n; n += 1n)
      for (let x = 0n; x < 130n; x += 1n) expect(isRight(x, n), `${x} mod ${n}`).to.equal(true);
  });

  it("is right if quotients are all 1, very large, or undecided by the leading bits", () => {
    const ends = [-3n, -2n, -1n, 0n, 1n, 2n, 3n];
    let [a, b] = [1n, 1n];
    // Consecutive numbers of Fibonacci.
    for (let i = 0; i < 3_000; i += 1) {
      [a, b] = [b, a + b];
      if (i > 3) expect(isRight(a, b), `${i}`).to.equal(true);
    }
    for (let bits = 8; bits <= 2_048; bits += 1)
      for (const end of ends) {
        const n = (1n << BigInt(bits)) + 5n + end;
        for (const x of [
          1n,
          2n,
          n - 1n,
          n - 2n,
          n / 2n,
          n / 2n + 1n,
          (1n << BigInt(bits >> 1)) + end,
          n >> 47n,
          n >> 48n,
        ])
          if (x >= 0n) expect(isRight(x, n), `${x} mod ${n}`).to.equal(true);
      }
  });

  it("does not exist for a value that shares a factor with the modulus", () => {
    const [p, q] = [random(1_024) | 1n, random(1_024) | 1n];
    expect(inverse(p * 12_345n, p * q)).to.equal(undefined);
    expect(inverse(0n, p)).to.equal(undefined);
    expectCode("INVALID_KEY", () => inverses([2n, 15n], 21n * 17n));
    expect(inverses([2n, 3n], 35n)).to.deep.equal([18n, 12n]);
  });
});
