import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import fc from "fast-check";
import {
  addPoints,
  BASE8,
  FIELD_MODULUS,
  IDENTITY,
  isInSubgroup,
  isOnCurve,
  montgomeryEighth,
  multiplyPoint,
  negatePoint,
  type Point,
  packPoint,
  pointFromX,
  SUBGROUP_ORDER,
  toMontgomery,
  unpackPoint,
} from "../src/index.ts";
import { runs, scalar } from "./support/arbitraries.ts";
import * as oracle from "./support/oracle.ts";
import { vectors } from "./support/vectors.ts";

interface Vectors {
  points: { scalar: bigint; point: Point; packed: string; montgomeryEighth: [bigint, bigint] }[];
  products: { point: Point; scalar: bigint; product: Point; sumWithBase: Point }[];
}

/** A point of order 8 (circomlib's generator times l), from which the small-order points are made. */
const order8 = oracle.multiply(oracle.generator, SUBGROUP_ORDER);
const orderTwo = { x: 0n, y: FIELD_MODULUS - 1n };

/** circomlib's packing without this package's checks. */
const packUnchecked = (point: Point) => oracle.pack(point);

describe("Baby Jubjub", () => {
  const { points, products } = vectors<Vectors>("babyjub");

  it("multiplies, adds, packs and converts as circomlib does", () => {
    for (const { scalar, point, packed, montgomeryEighth: eighth } of points) {
      expect(multiplyPoint(BASE8, scalar)).to.deep.equal(point);
      expect(packPoint(point)).to.equal(packed);
      expect(unpackPoint(packed)).to.deep.equal(point);
      expect(montgomeryEighth(point)).to.deep.equal(eighth);
      expect(pointFromX(point.x)).to.deep.equal(point);
    }
    for (const { point, scalar, product, sumWithBase } of products) {
      expect(multiplyPoint(point, scalar)).to.deep.equal(product);
      expect(addPoints(point, BASE8)).to.deep.equal(sumWithBase);
    }
  });

  it("is a group of order l, for random and extreme scalars", () => {
    fc.assert(
      fc.property(scalar, scalar, (a, b) => {
        const left = addPoints(multiplyPoint(BASE8, a), multiplyPoint(BASE8, b));
        expect(left).to.deep.equal(multiplyPoint(BASE8, (a + b) % SUBGROUP_ORDER));
      }),
      runs(20),
    );
    expect(multiplyPoint(BASE8, 0n)).to.deep.equal(IDENTITY);
    expect(addPoints(multiplyPoint(BASE8, SUBGROUP_ORDER - 1n), BASE8)).to.deep.equal(IDENTITY);
    expect(negatePoint(BASE8)).to.deep.equal(multiplyPoint(BASE8, SUBGROUP_ORDER - 1n));
  });

  it("agrees with circomlibjs on random products", () => {
    fc.assert(
      fc.property(scalar, scalar, (a, b) => {
        const point = multiplyPoint(BASE8, a);
        expect(multiplyPoint(point, b)).to.deep.equal(oracle.multiply(oracle.multiply(oracle.base8, a), b));
      }),
      runs(6),
    );
  });

  it("unpacks every packed subgroup point to itself", () => {
    const nonZero = scalar.filter((value) => value !== 0n);
    fc.assert(
      fc.property(nonZero, (k) => {
        const point = multiplyPoint(BASE8, k);
        expect(unpackPoint(packPoint(point))).to.deep.equal(point);
        expect(pointFromX(point.x)).to.deep.equal(point);
        const [u, v] = toMontgomery(point);
        const curve = (u ** 3n + 168698n * u ** 2n + u - v ** 2n) % FIELD_MODULUS;
        expect(curve).to.equal(0n);
      }),
      runs(20),
    );
  });

  it("distinguishes points of the subgroup, of the curve and of neither", () => {
    expect(isOnCurve(order8)).to.equal(true);
    expect(isInSubgroup(order8)).to.equal(false);
    expect(oracle.multiply(order8, 8n)).to.deep.equal(IDENTITY);
    expect(oracle.multiply(order8, 4n)).to.deep.equal(orderTwo);
    expect(isInSubgroup(BASE8)).to.equal(true);
    expect(isOnCurve({ x: 1n, y: 1n })).to.equal(false);
  });

  it("rejects encodings of points outside the subgroup, and of the identity", () => {
    const mixed = addPoints(BASE8, order8);
    for (const point of [order8, orderTwo, mixed, { x: BASE8.x, y: FIELD_MODULUS - BASE8.y }]) {
      expectCode("INVALID_POINT", () => unpackPoint(packUnchecked(point)), /prime-order subgroup/);
      expectCode("INVALID_POINT", () => packPoint(point), /prime-order subgroup/);
      expectCode("INVALID_POINT", () => montgomeryEighth(point), /prime-order subgroup/);
    }
    expectCode("INVALID_POINT", () => unpackPoint(packUnchecked(IDENTITY)), /identity/);
    expectCode("INVALID_POINT", () => packPoint(IDENTITY), /identity/);
    expectCode("INVALID_POINT", () => montgomeryEighth(IDENTITY), /identity/);
  });

  it("rejects non-canonical encodings", () => {
    const hex = packPoint(BASE8);
    expectCode("INVALID_HEX", () => unpackPoint(hex.slice(0, -2)));
    expectCode("INVALID_HEX", () => unpackPoint(`${hex}00`));
    expectCode("INVALID_HEX", () => unpackPoint(hex.toUpperCase().replace("0X", "0x")));
    expectCode("INVALID_HEX", () => unpackPoint(hex.slice(2)));
    expectCode("INVALID_HEX", () => unpackPoint(null as never));
    const alias = (y: bigint) => `0x${Buffer.from(y.toString(16).padStart(64, "0"), "hex").reverse().toString("hex")}`;
    expectCode("INVALID_POINT", () => unpackPoint(alias(FIELD_MODULUS)), /below p/);
    expectCode("INVALID_POINT", () => unpackPoint(alias(FIELD_MODULUS + 1n)), /below p/);
    expectCode("INVALID_POINT", () => unpackPoint(`0x01${"00".repeat(30)}80`), /sign on x = 0/);
    expectCode("INVALID_POINT", () => unpackPoint(`0x02${"00".repeat(31)}`), /no point|subgroup/);
  });

  it("rejects an x that no point of the subgroup has", () => {
    expectCode("INVALID_POINT", () => pointFromX(0n));
    expectCode("INVALID_POINT", () => pointFromX(order8.x));
    expectCode("INVALID_POINT", () => pointFromX(1n));
    expectCode("INVALID_FIELD_ELEMENT", () => pointFromX(FIELD_MODULUS));
  });

  it("rejects scalars out of range and points off the curve", () => {
    expectCode("INVALID_SCALAR", () => multiplyPoint(BASE8, SUBGROUP_ORDER));
    expectCode("INVALID_SCALAR", () => multiplyPoint(BASE8, -1n));
    expectCode("INVALID_SCALAR", () => multiplyPoint(BASE8, 1 as never));
    expectCode("INVALID_POINT", () => multiplyPoint({ x: 1n, y: 1n }, 1n), /not on Baby Jubjub/);
    expectCode("INVALID_POINT", () => addPoints(BASE8, { x: 1n, y: 1n }));
    expectCode("INVALID_FIELD_ELEMENT", () => addPoints(BASE8, { x: 0n, y: FIELD_MODULUS + 1n }));
    expectCode("INVALID_FIELD_ELEMENT", () => multiplyPoint(undefined as never, 1n));
  });
});
