// Compares the curve's WebAssembly with @noble/curves, which shares no code with it.

import { bn254 } from "@noble/curves/bn254.js";
import { slow } from "@sotto/test-kit/slow";
import { assert } from "chai";
import { type Curve, type Group, type Point, sharedCurve } from "../src/curve.ts";
import { SCALAR_FIELD_ORDER } from "../src/proof/orders.ts";
import { randomBelow } from "./support/random.ts";

const { G1, G2 } = bn254;

/** The group, and the oracle's multiples of its generator as affine coordinates. */
const GROUPS: [string, (curve: Curve) => Group, (scalar: bigint) => bigint[]][] = [
  [
    "G1",
    (curve) => curve.G1,
    (scalar) => {
      const { x, y } = G1.Point.BASE.multiply(scalar).toAffine();
      return [x, y];
    },
  ],
  [
    "G2",
    (curve) => curve.G2,
    (scalar) => {
      const { x, y } = G2.Point.BASE.multiply(scalar).toAffine();
      return [x.c0, x.c1, y.c0, y.c1];
    },
  ],
];

describe("the curve", function () {
  slow(this, "a circuit is compiled, and proofs made");
  let curve: Curve;
  before(async () => {
    curve = await sharedCurve();
  });

  for (const [name, groupOf, multiple] of GROUPS) {
    describe(name, () => {
      let group: Group;
      let base: Point;
      before(() => {
        group = groupOf(curve);
        base = group.fromCoordinates(multiple(1n));
      });
      const coordinates = (point: Point): bigint[] => group.toCoordinates(point);

      it("multiplies like the oracle, including by 1 and r - 1", () => {
        for (const scalar of [
          1n,
          2n,
          3n,
          SCALAR_FIELD_ORDER - 1n,
          randomBelow(SCALAR_FIELD_ORDER),
          randomBelow(SCALAR_FIELD_ORDER),
        ])
          assert.deepEqual(coordinates(group.multiply(base, scalar)), multiple(scalar));
      });

      it("adds, doubles and negates points, and adds a point to itself, to its opposite and to infinity", () => {
        const three = group.multiply(base, 3n);
        assert.deepEqual(coordinates(group.add(three, base)), multiple(4n));
        assert.deepEqual(coordinates(group.add(three, three)), multiple(6n));
        assert.deepEqual(coordinates(group.double(three)), multiple(6n));
        assert.deepEqual(coordinates(group.negate(three)), multiple(SCALAR_FIELD_ORDER - 3n));
        assert.deepEqual(coordinates(group.add(three, group.zero)), multiple(3n));
        assert.deepEqual(coordinates(group.add(group.zero, three)), multiple(3n));
        const nothing = group.add(three, group.negate(three));
        assert.deepEqual(coordinates(group.add(nothing, base)), multiple(1n));
        for (const infinity of [
          nothing,
          group.zero,
          group.multiply(base, 0n),
          group.multiply(base, SCALAR_FIELD_ORDER),
        ])
          assert.deepEqual(coordinates(group.double(infinity)), coordinates(group.zero));
      });

      it("reads points in the encoding of .zkey files", () => {
        const point = multiple(7n);
        const q = bn254.fields.Fp.ORDER;
        const bytes = point.flatMap((coordinate) => {
          const montgomery = (coordinate << 256n) % q;
          return Array.from({ length: 32 }, (_, index) => Number((montgomery >> BigInt(8 * index)) & 255n));
        });
        assert.deepEqual(coordinates(group.fromFile(Uint8Array.from(bytes))), point);
        const zeros = new Uint8Array(bytes.length);
        assert.deepEqual(coordinates(group.add(group.fromFile(zeros), base)), multiple(1n));
      });
    });
  }

  it("has a bilinear, nondegenerate pairing", () => {
    const { G1: g1, G2: g2 } = curve;
    const [p, q] = [g1.fromCoordinates([1n, 2n]), g2.fromCoordinates(GROUPS[1]![2](1n))];
    const pairing = (a: bigint, b: bigint): Uint8Array => {
      const pair = [curve.prepareG1(g1.multiply(p, a)), curve.prepareG2(g2.multiply(q, b))] as const;
      return curve.finalExponentiation(curve.millerLoop([pair]));
    };
    const [a, b] = [randomBelow(SCALAR_FIELD_ORDER), randomBelow(SCALAR_FIELD_ORDER)];
    assert.deepEqual(pairing(a, b), pairing((a * b) % SCALAR_FIELD_ORDER, 1n));
    assert.notDeepEqual(pairing(a, b), pairing(a, b + 1n));
    // e(P, Q)·e(-P, Q) = 1, and the empty product is 1.
    const both = curve.millerLoop([
      [curve.prepareG1(p), curve.prepareG2(q)],
      [curve.prepareG1(g1.negate(p)), curve.prepareG2(q)],
    ]);
    assert.deepEqual(curve.finalExponentiation(both), curve.finalExponentiation(curve.millerLoop([])));
  });
});
