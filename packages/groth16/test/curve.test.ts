// Compares the curve's WebAssembly with @noble/curves, which shares no code with it.

import { bn254 } from "@noble/curves/bn254.js";
import { randomBelow } from "@sotto/test-kit/random-below";
import { slow } from "@sotto/test-kit/slow";
import { assert } from "chai";
import { type Curve, type Group, type Point, sharedCurve } from "../src/curve.ts";
import { SCALAR_FIELD_ORDER } from "../src/proof/orders.ts";

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
      /** As in a .zkey file; no coordinates mean infinity. */
      const toFile = (affine: readonly bigint[]): Uint8Array => {
        const q = bn254.fields.Fp.ORDER;
        const bytes = affine.flatMap((coordinate) => {
          const montgomery = (coordinate << 256n) % q;
          return Array.from({ length: 32 }, (_, index) => Number((montgomery >> BigInt(8 * index)) & 255n));
        });
        return affine.length === 0 ? new Uint8Array(32 * multiple(1n).length) : Uint8Array.from(bytes);
      };
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

      it("adds and negates points, and adds a point to itself, to its opposite and to infinity", () => {
        const three = group.multiply(base, 3n);
        assert.deepEqual(coordinates(group.add(three, base)), multiple(4n));
        assert.deepEqual(coordinates(group.add(three, three)), multiple(6n));
        assert.deepEqual(coordinates(group.negate(three)), multiple(SCALAR_FIELD_ORDER - 3n));
        assert.deepEqual(coordinates(group.add(three, group.zero)), multiple(3n));
        assert.deepEqual(coordinates(group.add(group.zero, three)), multiple(3n));
        const nothing = group.add(three, group.negate(three));
        assert.deepEqual(coordinates(group.add(nothing, base)), multiple(1n));
        for (const infinity of [group.multiply(base, 0n), group.multiply(base, SCALAR_FIELD_ORDER)])
          assert.deepEqual(coordinates(infinity), coordinates(group.zero));
      });

      it("adds up points that count 2^position times, also equal, opposite and infinite ones", () => {
        const term = (position: number, k: bigint) => ({ position, point: toFile(k === 0n ? [] : multiple(k)) });
        const sum = (...terms: ReturnType<typeof term>[]): bigint[] => coordinates(group.addUp(terms));
        const zero = coordinates(group.zero);
        assert.deepEqual(sum(), zero);
        assert.deepEqual(sum(term(5, 0n)), zero);
        assert.deepEqual(sum(term(3, 1n)), multiple(8n));
        assert.deepEqual(sum(term(2, 3n), term(0, 5n), term(1, 0n), term(4, 1n)), multiple(33n));
        // The second term is equal to the sum so far, and then opposite to it.
        assert.deepEqual(sum(term(1, 1n), term(0, 2n)), multiple(4n));
        assert.deepEqual(sum(term(1, 1n), term(0, SCALAR_FIELD_ORDER - 2n)), zero);
        assert.deepEqual(sum(term(1, 1n), term(0, SCALAR_FIELD_ORDER - 2n), term(0, 3n)), multiple(3n));
        const many = Array.from({ length: 300 }, (_, index) => ({
          position: (index * 77) % 260,
          k: BigInt(index % 9),
        }));
        const expected = many.reduce(
          (all, { position, k }) => (all + (k << BigInt(position))) % SCALAR_FIELD_ORDER,
          0n,
        );
        assert.deepEqual(sum(...many.map(({ position, k }) => term(position, k))), multiple(expected));
      });

      it("reads points in the encoding of .zkey files", () => {
        const point = multiple(7n);
        assert.deepEqual(coordinates(group.fromFile(toFile(point))), point);
        assert.deepEqual(coordinates(group.add(group.fromFile(toFile([])), base)), multiple(1n));
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
