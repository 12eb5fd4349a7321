// Compares the pairing and the check of the subgroup with @noble/curves, which shares no code with them.
import { bn254 } from "@noble/curves/bn254.js";
import { randomBelow } from "@sotto/test-kit/random-below";
import { slow } from "@sotto/test-kit/slow";
import { assert } from "chai";
import { type Curve, type Point, sharedCurve } from "../src/curve.ts";
import { pairingCode } from "../src/pairing/code.ts";
import { ELEMENT_BYTES, modulo } from "../src/pairing/limbs.ts";
import { frobeniusFactor, multiplyPairs, powerOfPair, TWIST_B, X } from "../src/pairing/parameters.ts";
import { BASE_FIELD_ORDER as q, SCALAR_FIELD_ORDER as r } from "../src/proof/orders.ts";

const { Fp2, Fp12 } = bn254.fields;
const [G1, G2] = [bn254.G1.Point, bn254.G2.Point];
type TwistPoint = typeof G2.BASE;

/** The twist has r·COFACTOR points, and 10069 is the smallest prime that divides the cofactor. */
const TRACE = 6n * X ** 2n + 1n;
const COFACTOR = q - 1n + TRACE;
const SMALL_ORDER = 10069n;

const g1Of = (k: bigint): bigint[] => {
  const { x, y } = G1.BASE.multiply(k).toAffine();
  return [x, y];
};
const coordinatesOf = (point: TwistPoint): bigint[] => {
  const { x, y } = point.toAffine();
  return [x.c0, x.c1, y.c0, y.c1];
};
/** By doubling and adding, because the library multiplies only by scalars below r. */
const times = (point: TwistPoint, scalar: bigint): TwistPoint => {
  let result = G2.ZERO;
  for (const bit of scalar.toString(2)) {
    result = result.double();
    if (bit === "1") result = result.add(point);
  }
  return result;
};
const b = { c0: TWIST_B[0], c1: TWIST_B[1] };

/** A random point of the twist, which is almost never in the subgroup. */
function randomTwistPoint(): TwistPoint {
  for (;;) {
    const x = { c0: randomBelow(q), c1: randomBelow(q) };
    const square = Fp2.add(Fp2.mul(Fp2.sqr(x), x), b);
    try {
      return G2.fromAffine({ x, y: Fp2.sqrt(square) });
    } catch {
      // Not a square: about every second x.
    }
  }
}

describe("the pairing", function () {
  slow(this, "the oracle's pairings take about 30 ms each");
  let curve: Curve;
  before(async () => {
    curve = await sharedCurve();
  });

  const g1 = (k: bigint): Point => curve.G1.fromCoordinates(g1Of(k));
  const g2 = (k: bigint): Point => curve.G2.fromCoordinates(coordinatesOf(G2.BASE.multiply(k)));
  const product = (...pairs: readonly (readonly [Point, Point])[]): Uint8Array =>
    curve.finalExponentiation(
      curve.millerLoop(pairs.map(([first, second]) => [curve.prepareG1(first), curve.prepareG2(second)] as const)),
    );
  const one = (): Uint8Array => product();

  /** The oracle's element in this package's encoding: the coefficients of 1, v, v^2, w, vw and v^2·w. */
  const encode = (value: ReturnType<typeof bn254.pairing>): Uint8Array => {
    const numbers = [value.c0, value.c1].flatMap(({ c0, c1, c2 }) =>
      [c0, c1, c2].flatMap((pair) => [pair.c0, pair.c1]),
    );
    return Uint8Array.from(
      numbers.flatMap((number) =>
        Array.from({ length: 32 }, (_, index) => Number((number >> BigInt(8 * index)) & 255n)),
      ),
    );
  };
  /** The power of the oracle's pairing, to which both final exponentiations lead. */
  const expected = (x: bigint, y: bigint): Uint8Array =>
    encode(bn254.pairing(G1.BASE.multiply(x), G2.BASE.multiply(y)));

  it("is the oracle's", () => {
    assert.deepEqual(product([g1(1n), g2(1n)]), expected(1n, 1n));
    for (let round = 0; round < 10; round++) {
      const [x, y] = [randomBelow(r - 1n) + 1n, randomBelow(r - 1n) + 1n];
      assert.deepEqual(product([g1(x), g2(y)]), expected(x, y));
    }
  });

  it("multiplies the pairings of 0 to 20 pairs, more than share their squarings", () => {
    for (const count of [0, 1, 2, 3, 7, 8, 9, 16, 17, 20]) {
      const scalars = Array.from({ length: count }, () => [randomBelow(r), randomBelow(r)] as const);
      const exponent = scalars.reduce((sum, [x, y]) => (sum + x * y) % r, 0n);
      const found = product(...scalars.map(([x, y]) => [g1(x), g2(y)] as const));
      assert.deepEqual(found, count === 0 ? encode(Fp12.ONE) : expected(exponent, 1n));
    }
  });

  it("is bilinear and not degenerate", () => {
    const [x, y] = [randomBelow(r), randomBelow(r)];
    const value = product([g1(x), g2(y)]);
    assert.deepEqual(product([g1((x * y) % r), g2(1n)]), value);
    assert.deepEqual(product([g1(1n), g2((x * y) % r)]), value);
    assert.notDeepEqual(product([g1(x), g2((y + 1n) % r)]), value);
    assert.notDeepEqual(product([g1(1n), g2(1n)]), one());
    assert.deepEqual(product([g1(x), g2(y)], [g1(r - x), g2(y)]), one());
    assert.deepEqual(product([g1(x), g2(y)], [g1(x), g2(r - y)]), one());
    assert.deepEqual(product([g1(x), g2(y)], [curve.G1.negate(g1(x)), g2(y)]), one());
  });

  it("is one with infinity on either side, beside other pairs too", () => {
    const [p, point] = [g1(5n), g2(7n)];
    const value = product([p, point]);
    for (const pair of [
      [curve.G1.zero, point],
      [p, curve.G2.zero],
      [curve.G1.zero, curve.G2.zero],
    ] as const) {
      assert.deepEqual(product(pair), one());
      assert.deepEqual(product(pair, [p, point], pair), value);
    }
    // Infinity as a result has other coordinates than zeros.
    assert.deepEqual(product([curve.G1.add(p, curve.G1.negate(p)), point]), one());
    assert.deepEqual(product([p, curve.G2.multiply(point, r)]), one());
  });

  it("does not depend on the factor of Jacobian coordinates", () => {
    const [p, point] = [curve.G1.add(g1(2n), g1(3n)), curve.G2.add(g2(3n), g2(4n))];
    assert.notDeepEqual(p, g1(5n));
    assert.deepEqual(product([p, point]), product([g1(5n), g2(7n)]));
  });

  describe("the groups", () => {
    it("know the points of their curves", () => {
      for (let round = 0; round < 20; round++) {
        const [x, y] = g1Of(randomBelow(r)) as [bigint, bigint];
        assert.isTrue(curve.G1.isOnCurve([x, y]));
        assert.isTrue(curve.G1.isOnCurve([x, q - y]));
        assert.isFalse(curve.G1.isOnCurve([x, (y + 1n) % q]));
        assert.isFalse(curve.G1.isOnCurve([(x + 1n) % q, y]));
        const twist = coordinatesOf(randomTwistPoint());
        assert.isTrue(curve.G2.isOnCurve(twist));
        for (let part = 0; part < 4; part++)
          assert.isFalse(curve.G2.isOnCurve(twist.with(part, ((twist[part] as bigint) + 1n) % q)));
      }
      assert.isFalse(curve.G1.isOnCurve([0n, 0n]));
      assert.isFalse(curve.G2.isOnCurve([0n, 0n, 0n, 0n]));
    });

    it("accept the points of the subgroup", () => {
      for (const k of [
        1n,
        2n,
        3n,
        X,
        6n * X ** 2n,
        r - 1n,
        ...Array.from({ length: 20 }, () => randomBelow(r - 1n) + 1n),
      ])
        assert.isTrue(curve.G2.hasOrderR(coordinatesOf(G2.BASE.multiply(k))));
      assert.isTrue(curve.G2.hasOrderR(coordinatesOf(times(randomTwistPoint(), COFACTOR))));
    });

    it("reject points of the twist outside the subgroup, of small order and beside the subgroup too", () => {
      for (let round = 0; round < 20; round++) assert.isFalse(curve.G2.hasOrderR(coordinatesOf(randomTwistPoint())));
      const small = times(times(randomTwistPoint(), r), COFACTOR / SMALL_ORDER);
      assert.isFalse(small.is0());
      assert.isTrue(times(small, SMALL_ORDER).is0());
      for (const k of [1n, 2n, 5034n, SMALL_ORDER - 1n]) {
        const multiple = times(small, k);
        assert.isFalse(curve.G2.hasOrderR(coordinatesOf(multiple)));
        assert.isFalse(curve.G2.hasOrderR(coordinatesOf(multiple.add(G2.BASE.multiply(randomBelow(r))))));
      }
      // Only the part of order r is missing.
      assert.isFalse(curve.G2.hasOrderR(coordinatesOf(times(randomTwistPoint(), r))));
    });

    // The proof is beside the check, in src/pairing/pairing.ts.
    it("check the subgroup by an equation whose norm has only the factor r in common with the twist's order", () => {
      const gcd = (left: bigint, right: bigint): bigint => (right === 0n ? left : gcd(right, left % right));
      const f = [X + 1n, X, X, -2n * X];
      assert.equal(
        modulo(
          f.reduce((sum, coefficient, index) => sum + coefficient * q ** BigInt(index), 0n),
          r,
        ),
        0n,
      );
      // Divides by ψ^2 - t·ψ + q.
      for (const top of [3, 2]) {
        const leading = f[top] as bigint;
        f[top - 1] = (f[top - 1] as bigint) + TRACE * leading;
        f[top - 2] = (f[top - 2] as bigint) - q * leading;
      }
      const [v, u] = f as [bigint, bigint];
      const norm = v * v + TRACE * u * v + q * u * u;
      assert.equal(gcd(norm < 0n ? -norm : norm, r * COFACTOR), r);
      assert.equal(q + 1n - TRACE, r);
      assert.equal(COFACTOR % SMALL_ORDER, 0n);
      const point = randomTwistPoint();
      assert.isTrue(times(point, r * COFACTOR).is0());
    });

    it("have the endomorphism whose characteristic equation the check uses", () => {
      const psi = (point: TwistPoint): TwistPoint => {
        const [x0, x1, y0, y1] = coordinatesOf(point) as [bigint, bigint, bigint, bigint];
        const x = multiplyPairs([x0, q - x1], frobeniusFactor(2));
        const y = multiplyPairs([y0, q - y1], frobeniusFactor(3));
        return G2.fromAffine({ x: { c0: x[0], c1: x[1] }, y: { c0: y[0], c1: y[1] } });
      };
      for (let round = 0; round < 5; round++) {
        const point = randomTwistPoint();
        const sum = psi(psi(point))
          .subtract(times(psi(point), TRACE))
          .add(times(point, q));
        assert.isTrue(sum.is0());
        const other = randomTwistPoint();
        assert.isTrue(psi(point.add(other)).equals(psi(point).add(psi(other))));
      }
      const base = G2.BASE.multiply(randomBelow(r));
      assert.isTrue(psi(base).equals(times(base, q % r)));
    });

    it("are those of the parameter x", () => {
      assert.equal(36n * X ** 4n + 36n * X ** 3n + 24n * X ** 2n + 6n * X + 1n, q);
      assert.equal(36n * X ** 4n + 36n * X ** 3n + 18n * X ** 2n + 6n * X + 1n, r);
      assert.deepEqual(multiplyPairs(TWIST_B, [9n, 1n]), [3n, 0n]);
      assert.deepEqual(powerOfPair(frobeniusFactor(1), 6n), powerOfPair([9n, 1n], q - 1n));
    });

    it("add sums of up to 20 multiples, also of infinity, of equal and of opposite points, and by 0", () => {
      const groups = [
        [curve.G1, g1, g1Of],
        [curve.G2, g2, (k: bigint) => coordinatesOf(G2.BASE.multiply(k))],
      ] as const;
      for (const [group, pointOf, coordinates] of groups) {
        const infinity = coordinates(1n).map(() => 0n);
        assert.deepEqual(group.toCoordinates(group.sumOfMultiples([])), infinity);
        for (const count of [1, 2, 7, 8, 9, 20]) {
          const scalars = Array.from(
            { length: count },
            (_, index) => [0n, 1n, randomBelow(r), (1n << 256n) - 1n][index % 4] as bigint,
          );
          const bases = scalars.map((_, index) => BigInt((index % 5) + 1));
          const multiples = scalars.map((scalar, index) => ({ point: pointOf(bases[index] as bigint), scalar }));
          const total = scalars.reduce((sum, scalar, index) => (sum + scalar * (bases[index] as bigint)) % r, 0n);
          const sum = group.sumOfMultiples([...multiples, { point: group.zero, scalar: 5n }]);
          assert.deepEqual(group.toCoordinates(sum), total === 0n ? infinity : coordinates(total));
        }
        const opposite = [1n, r - 1n].map((k) => ({ point: pointOf(k), scalar: 12345n }));
        assert.isTrue(group.isZero(group.sumOfMultiples(opposite)));
      }
    });
  });

  it("refuses 0, which is in no target group", () => {
    assert.throws(() => curve.finalExponentiation(new Uint8Array(12 * ELEMENT_BYTES)), RangeError);
  });

  it("wipes what calls left in its memory", async () => {
    const { Memory } = WebAssembly;
    const memories: WebAssembly.Memory[] = [];
    class Recorded extends Memory {
      constructor(descriptor: WebAssembly.MemoryDescriptor) {
        super(descriptor);
        memories.push(this);
      }
    }
    // An instance of its own.
    const module = "../src/curve.ts?own";
    const { curveNow } = (await import(module)) as typeof import("../src/curve.ts");
    Object.assign(WebAssembly, { Memory: Recorded });
    let own: Curve;
    try {
      own = curveNow();
    } finally {
      Object.assign(WebAssembly, { Memory });
    }
    const { start, end } = pairingCode();
    const left = () =>
      new Uint8Array((memories[0] as WebAssembly.Memory).buffer, start, end - start).some((byte) => byte !== 0);
    own.G1.multiply(g1(3n), 77n);
    assert.isTrue(left());
    own.wipe();
    assert.isFalse(left());
  });

  it("gives the same results after its memory was wiped", () => {
    const value = product([g1(2n), g2(3n)]);
    const multiple = curve.G1.multiply(g1(3n), 77n);
    curve.wipe();
    assert.deepEqual(product([g1(2n), g2(3n)]), value);
    assert.deepEqual(curve.G1.multiply(g1(3n), 77n), multiple);
    assert.isTrue(curve.G2.hasOrderR(coordinatesOf(G2.BASE)));
  });
});
