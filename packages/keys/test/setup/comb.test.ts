import { bn254 } from "@noble/curves/bn254.js";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { buildBn128, type Curve } from "ffjavascript";
import { CombPool } from "../../src/setup/keys/comb-pool.ts";
import { compileCurve } from "../../src/setup/keys/compile-curve.ts";
import { fromBytes, invertAll, mod, power, rootOfUnity, SCALAR_MODULUS, toBytes } from "../../src/setup/keys/field.ts";
import { lagrangeAt, powersOf } from "../../src/setup/keys/lagrange.ts";

const R = SCALAR_MODULUS;
/** Scalars around the edges of every window (12 and 9 bits), and at the ends of the field. */
const SCALARS = [
  ...[0n, 1n, 2n, 3n, 2n ** 9n - 1n, 2n ** 9n, 2n ** 12n - 1n, 2n ** 12n, 2n ** 12n + 1n, 2n ** 24n, 2n ** 64n - 1n],
  ...[2n ** 253n, 2n ** 253n - 1n, R - 1n, R - 2n, (R - 1n) / 2n, mod(0x123456789abcdefn ** 9n)],
];

describe("fixed-base multiplication", function () {
  slow(this, "keys, circuits and ceremonies are made");
  let pool: CombPool;
  let curve: Curve;
  before(async () => {
    curve = await buildBn128(true);
    pool = CombPool.start(await compileCurve(curve));
  });
  after(() => pool.stop());

  it("agrees with @noble/curves in G1", async () => {
    const { points, uncompressed } = await pool.multiply("g1", toBytes(SCALARS), true);
    for (const [index, scalar] of SCALARS.entries()) {
      const expected = new Uint8Array(64);
      const { x, y } = bn254.G1.Point.BASE.multiplyUnsafe(scalar).toAffine();
      if (scalar !== 0n)
        expected.set(Buffer.from(x.toString(16).padStart(64, "0") + y.toString(16).padStart(64, "0"), "hex"));
      expect(Buffer.from(uncompressed.subarray(index * 64, (index + 1) * 64)), `${scalar}`).to.deep.equal(
        Buffer.from(expected),
      );
      const internal = new Uint8Array(64);
      curve.G1.toRprLEM(internal, 0, curve.G1.timesFr(curve.G1.g, curve.Fr.e(scalar)));
      expect(Buffer.from(points.subarray(index * 64, (index + 1) * 64))).to.deep.equal(Buffer.from(internal));
    }
  });

  it("agrees with @noble/curves in G2", async () => {
    const { uncompressed } = await pool.multiply("g2", toBytes(SCALARS), true);
    for (const [index, scalar] of SCALARS.entries()) {
      if (scalar === 0n) continue;
      const { x, y } = bn254.G2.Point.BASE.multiplyUnsafe(scalar).toAffine();
      const words = [x.c1, x.c0, y.c1, y.c0].map((word) => word.toString(16).padStart(64, "0"));
      expect(Buffer.from(uncompressed.subarray(index * 128, (index + 1) * 128)).toString("hex"), `${scalar}`).to.equal(
        words.join(""),
      );
    }
  });

  it("keeps the order across many chunks and threads", async () => {
    const many = Array.from({ length: 10_000 }, (_, index) => BigInt(index % SCALARS.length));
    const { points } = await pool.multiply("g1", toBytes(many));
    const { points: few } = await pool.multiply("g1", toBytes(many.slice(0, SCALARS.length)));
    for (const index of [0, 1, 4_095, 4_096, 8_191, 8_192, 9_999]) {
      const at = (index % SCALARS.length) * 64;
      expect(Buffer.from(points.subarray(index * 64, (index + 1) * 64))).to.deep.equal(
        Buffer.from(few.subarray(at, at + 64)),
      );
    }
  });

  it("returns nothing without scalars", async () => {
    expect((await pool.multiply("g1", new Uint8Array(0), true)).points).to.have.length(0);
  });
});

describe("field and Lagrange polynomials", function () {
  slow(this, "keys, circuits and ceremonies are made");
  it("survive a round trip through bytes", () => {
    expect(fromBytes(toBytes(SCALARS))).to.deep.equal(SCALARS);
  });

  it("invert a whole list", () => {
    const values = SCALARS.filter((value) => value !== 0n);
    for (const [index, inverse] of invertAll(values).entries()) expect(mod(inverse * values[index]!)).to.equal(1n);
  });

  it("interpolate every polynomial below their number, at any point", () => {
    const [logarithm, point] = [3, 987_654_321n];
    const evaluate = (x: bigint) =>
      mod(powersOf(x, 8).reduce((sum, value, index) => sum + value * BigInt(index + 1), 0n));
    const values = powersOf(rootOfUnity(logarithm), 8).map(evaluate);
    const basis = lagrangeAt(point, logarithm);
    expect(mod(basis.reduce((sum, value, index) => sum + value * values[index]!, 0n))).to.equal(evaluate(point));
  });

  it("match the full list if only every nth one is computed", () => {
    const all = lagrangeAt(5n, 4);
    expect(lagrangeAt(5n, 4, 1, 2)).to.deep.equal(all.filter((_, index) => index % 2 === 1));
  });

  it("have primitive roots of unity", () => {
    for (const logarithm of [1, 2, 13, 28])
      expect(power(rootOfUnity(logarithm), 1n << BigInt(logarithm - 1))).to.equal(R - 1n);
    expect(() => rootOfUnity(29)).to.throw(RangeError);
  });
});
