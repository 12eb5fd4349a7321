import { readFileSync } from "node:fs";
import { join } from "node:path";
import { A, add, BASE8, multiply, negate, ORDER, toMontgomery } from "@sotto/certify/check/curve";
import { mod, P, power } from "@sotto/certify/check/field";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";

/**
 * Computes the numbers behind two arguments: that no incomplete addition meets an exceptional case (in circuits/lib,
 * variable_base.circom, fixed_base.circom, amount_point.circom, ephemeral_point.circom), and that no denominator is 0
 * (montgomery.circom, edwards.circom).
 */
const isSquare = (value: bigint): boolean => power(value, (P - 1n) / 2n) === 1n;

/** Whether adding +-1 and then the multiple itself avoids every exceptional case, for all multiples in [low, high]. */
function stepIsSafe(low: bigint, high: bigint): boolean {
  // The multiples are a, 1, a +- 1 and 2 a +- 1. They increase with a, and none of them may reach a multiple of l.
  return low > 1n && high < ORDER - 1n && 2n * high + 1n < ORDER;
}

function lastRange(bits: number): { low: bigint; high: bigint; safe: boolean } {
  let [low, high, safe] = [2n, 2n, true];
  for (let i = 0; i < bits; i++) {
    safe &&= stepIsSafe(low, high);
    [low, high] = [2n * low - 1n, 2n * high + 1n];
  }
  return { low, high, safe };
}

type Row = [bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint];
const text = readFileSync(join(import.meta.dirname, "..", "..", "lib", "fixed_base_table.circom"), "utf8");
const rows = [...text.matchAll(/^ {8}\[(\d+(?:, \d+){10})\]/gm)].map(([, row]) =>
  (row as string).split(", ").map(BigInt),
);

describe("exceptional cases of the incomplete additions", function () {
  slow(this, "circuits are compiled, and witnesses made");
  it("variable base: 249 steps avoid every exception, and the last multiple is in [2^249 + 1, 3 * 2^249 - 1]", () => {
    expect(lastRange(249)).to.deep.equal({ low: 2n ** 249n + 1n, high: 3n * 2n ** 249n - 1n, safe: true });
  });

  it("variable base: a 250th step would not avoid them", () => {
    expect(lastRange(250).safe).to.equal(false);
  });

  it("fixed base: the rows use every exponent once, and the first 21 rows use those below 63", () => {
    expect(rows).to.have.length(83);
    const exponents = rows.map((row) => row.slice(0, 3).map(Number));
    const sorted = (lists: number[][]) => lists.flat().sort((a, b) => a - b);
    expect(sorted(exponents.slice(0, 21))).to.deep.equal(Array.from({ length: 63 }, (_, i) => i));
    expect(sorted(exponents)).to.deep.equal(Array.from({ length: 249 }, (_, i) => i));
  });

  it("fixed base: every possible sum before and after a window is in [1, l - 1]", () => {
    // In units of Base8 for the scalar (start 2^250), of Base8/2 for the amount (start 2^64 +- 1, terms 2^1 .. 2^63).
    const scalar = { start: 2n ** 250n, terms: 2n ** 249n - 1n };
    const low = { start: 2n ** 64n - 1n, terms: 2n ** 64n - 2n };
    const high = { start: 2n ** 64n + 1n, terms: 2n ** 64n - 2n };
    for (const { start, terms } of [scalar, low, high]) {
      expect(start - terms > 0n).to.equal(true);
      expect(start + terms < ORDER).to.equal(true);
    }
  });

  it("fixed base: each row gives its eight points", () => {
    for (const row of rows) {
      const [i, j, k, beta, f0, f1, f2, g0, g1, g2, offset] = row as Row;
      const points = [i, j, k].map((exponent) => multiply(BASE8, 2n ** exponent));
      for (const signs of [0, 1, 2, 3, 4, 5, 6, 7]) {
        const [s0, s1, s2] = [signs & 1, signs & 2, signs & 4].map((bit) => (bit ? 1n : -1n)) as [
          bigint,
          bigint,
          bigint,
        ];
        const sum = points
          .map((point, index) => ([s0, s1, s2][index] === 1n ? point : negate(point)))
          .reduce((a, b) => add(a, b));
        const u = mod((s0 + beta * s1) * (f0 * s0 + f1 * s1 + f2 * s2));
        const linear = g0 * s0 + g1 * s1 + g2 * s2;
        expect([u, mod(linear * (u + offset))]).to.deep.equal(toMontgomery(sum));
      }
    }
  });

  it("no denominator is 0: a is a square, d is not, u = -1 is not on the curve, and only (0, 0) has v = 0", () => {
    const [a, d] = [168700n, 168696n];
    expect(isSquare(a)).to.equal(true);
    expect(isSquare(d)).to.equal(false);
    expect(isSquare(A - 2n)).to.equal(false);
    expect(isSquare(A * A - 4n)).to.equal(false);
  });
});
