// Compares every function of the pairing's kernel with bigints: with the largest limbs that its bounds allow, and with random ones.
import { randomBelow } from "@sotto/test-kit/random-below";
import { slow } from "@sotto/test-kit/slow";
import { assert } from "chai";
import { MAX_PRODUCTS, MAX_STORED } from "../src/pairing/field.ts";
import {
  ELEMENT_BYTES,
  fromLimbs,
  HALF,
  LIMB_BITS,
  LIMBS,
  MONTGOMERY_BITS,
  modulo,
  SMALL_LIMB,
  toLimbs,
} from "../src/pairing/limbs.ts";
import { multiplyPairs, type Pair, signedDigits, X } from "../src/pairing/parameters.ts";
import { BASE_FIELD_ORDER as q, SCALAR_FIELD_ORDER as r } from "../src/proof/orders.ts";
import {
  assertSmall,
  inverseOf,
  type Limbs,
  multiplyTargets,
  PairingKernel,
  powerOfTarget,
  smallLimbs,
  type Target,
  toTarget,
} from "./support/pairing-kernel.ts";

const ROUNDS = process.env["SOTTO_LONG"] === "1" ? 100_000 : 5_000;
const R_INVERSE = inverseOf(1n << MONTGOMERY_BITS);

/** `Math.random` is good enough here; `randomBelow` takes longer than the product under test. */
const below = (bound: number): number => Math.floor(Math.random() * bound);
const pick = <T>(values: readonly T[]): T => values[below(values.length)] as T;

/** The top limb of the largest small value, 0.6 q, with the limbs below it at their largest. */
const TOP = Number(toLimbs((6n * q) / 10n)[LIMBS - 1]) - 1;

/** The largest limbs of an element of this weight. */
const largest = (weight: number): bigint[] =>
  Array.from({ length: LIMBS }, (_, limb) => BigInt(weight * (limb === LIMBS - 1 ? TOP : Number(SMALL_LIMB))));

/** An element of the weight: limbs at or near their limits, all with one sign, with signs in turns, or random. */
function element(weight: number): number[] {
  const signs = pick<(limb: number) => number>([
    () => 1,
    () => -1,
    (limb) => (limb % 2 === 0 ? 1 : -1),
    () => pick([1, -1]),
  ]);
  const kind = pick(["largest", "edges", "random"] as const);
  return Array.from({ length: LIMBS }, (_, limb) => {
    const limit = weight * (limb === LIMBS - 1 ? TOP : Number(SMALL_LIMB));
    const edges = [0, 1, weight * 2 ** 28 - 1, weight * 2 ** 28, limit - 1, limit].map((edge) => Math.min(edge, limit));
    return signs(limb) * (kind === "largest" ? limit : kind === "edges" ? pick(edges) : below(limit + 1));
  });
}

const elements = (count: number, weight: number): number[][] => Array.from({ length: count }, () => element(weight));
/** The number that limbs represent, without Montgomery's factor. */
const numberOf = (limbs: Limbs): bigint => modulo(fromLimbs(limbs));
const pairOf = ([real, imaginary]: readonly Limbs[]): Pair => [numberOf(real as Limbs), numberOf(imaginary as Limbs)];

describe("the pairing's arithmetic", function () {
  slow(this, "thousands of cases are compared with bigints");
  const kernel = new PairingKernel();
  const [a, b, c, out] = [kernel.allocate(12), kernel.allocate(12), kernel.allocate(12), kernel.allocate(12)];
  const operandsAt = kernel.allocate(20);

  /** Weights of two factors whose products fit into a column. */
  const weights = (products: number): [number, number][] =>
    Array.from({ length: MAX_STORED }, (_, index): [number, number] => [
      index + 1,
      Math.min(MAX_STORED, Math.floor(MAX_PRODUCTS / products / (index + 1))),
    ]).filter(([, other]) => other > 0);

  it("multiplies and squares in Fq and Fq2 up to the largest columns", () => {
    for (let round = 0; round < ROUNDS; round++) {
      for (const degree of [1, 2] as const) {
        const [left, right] = pick(weights(degree));
        const [x, y] = [elements(degree, left), elements(degree, right)];
        kernel.call(`multiply${degree}`, out, kernel.put(a, x), kernel.put(b, y));
        const found = kernel.limbs(out, degree);
        for (const limbs of found) assertSmall(limbs);
        const expected =
          degree === 1 ? [numberOf(x[0] as Limbs) * numberOf(y[0] as Limbs)] : multiplyPairs(pairOf(x), pairOf(y));
        assert.deepEqual(
          found.map(numberOf),
          expected.map((value) => modulo(value * R_INVERSE)),
        );
        // The weight of a square: 13 >= 1·3·3 and 2·2·2.
        const z = elements(degree, degree === 1 ? 3 : 2);
        kernel.call(`square${degree}`, out, kernel.put(a, z));
        const square = kernel.limbs(out, degree);
        for (const limbs of square) assertSmall(limbs);
        const squared = degree === 1 ? [numberOf(z[0] as Limbs) ** 2n] : multiplyPairs(pairOf(z), pairOf(z));
        assert.deepEqual(
          square.map(numberOf),
          squared.map((value) => modulo(value * R_INVERSE)),
        );
      }
    }
  });

  it("has literals equal to the products that they replace", () => {
    assert.equal(HALF, 1n << (LIMB_BITS - 1n));
    assert.equal(SMALL_LIMB, HALF + 128n);
    assert.equal(MONTGOMERY_BITS, LIMB_BITS * BigInt(LIMBS));
    assert.equal(ELEMENT_BYTES, 4 * LIMBS);
    assert.equal(fromLimbs([0, 1]), 1n << LIMB_BITS);
  });

  it("tests columns above 2^62", () => {
    const columns = weights(1).map(([left, right]) => {
      const [x, y] = [largest(left), largest(right)];
      return x.reduce((sum, limb, index) => sum + limb * (y[LIMBS - 1 - index] as bigint), 0n);
    });
    assert.isTrue(columns.some((column) => column > 1n << 62n));
  });

  it("computes every sum of the formulas, and reduces it to a small element", () => {
    const names = kernel.names.filter((name) => name.startsWith("sum"));
    assert.isAbove(names.length, 20);
    for (const name of names) {
      const [, kind = "", list = ""] = /^(sum[12](?:lazy)?)\((.*)\)$/.exec(name) ?? [];
      const degree = kind[3] === "1" ? 1 : 2;
      const coefficients = list.split(";").map((text): Pair => {
        const [real = "0", imaginary = "0"] = text.split(",");
        return [BigInt(real), BigInt(imaginary)];
      });
      for (let round = 0; round < ROUNDS / 50; round++) {
        const operands = coefficients.map(() => elements(degree, 1));
        const addresses = operands.map((operand, index) => kernel.put(operandsAt + 72 * index, operand));
        kernel.call(name, out, ...addresses);
        const found = kernel.limbs(out, degree);
        if (!kind.endsWith("lazy")) for (const limbs of found) assertSmall(limbs);
        const expected = operands.reduce(
          (sum, operand, index) => {
            const [x, y] = multiplyPairs(coefficients[index] as Pair, pairOf([...operand, [0]]));
            return [modulo(sum[0] + x), modulo(sum[1] + y)] as const;
          },
          [0n, 0n] as Pair,
        );
        assert.deepEqual(found.map(numberOf), expected.slice(0, degree), name);
        // The result may take the place of the first operand.
        kernel.call(name, addresses[0] as number, ...addresses);
        assert.deepEqual(kernel.limbs(addresses[0] as number, degree), found, name);
      }
    }
  });

  it("reduces sums with the largest weight", () => {
    for (let round = 0; round < ROUNDS; round++) {
      const limbs = element(127).map(BigInt);
      kernel.call("reduceSum", out, ...limbs);
      const [found] = kernel.limbs(out, 1) as [number[]];
      assertSmall(found);
      assert.equal(numberOf(found), numberOf(limbs.map(Number)));
    }
  });

  it("recognizes zero, of which small elements have one form", () => {
    const zero = kernel.put(a, [new Array<number>(LIMBS).fill(0), new Array<number>(LIMBS).fill(0)]);
    assert.deepEqual([kernel.call("isZero1", zero), kernel.call("isZero2", zero)], [1, 1]);
    for (let place = 0; place < 2 * LIMBS; place++) {
      const limbs = Array.from({ length: 2 }, (_, part) => {
        return Array.from({ length: LIMBS }, (_, limb) => (part * LIMBS + limb === place ? pick([1, -1]) : 0));
      });
      kernel.put(a, limbs);
      assert.deepEqual([kernel.call("isZero1", a), kernel.call("isZero2", a)], [place < LIMBS ? 0 : 1, 0]);
    }
    // x - x from two representations of x, and multiples of q, reduce to zero limbs.
    const minus = kernel.names.find((name) => name === "sum1(1;-1)") as string;
    for (let round = 0; round < 200; round++) {
      const x = randomBelow((6n * q) / 10n);
      const one = kernel.put(a, [toLimbs(x).map(Number)]);
      const other = kernel.put(b, [toLimbs(x > (4n * q) / 10n ? x - q : x).map(Number)]);
      kernel.call(minus, out, one, other);
      assert.deepEqual(kernel.limbs(out, 1), [new Array<number>(LIMBS).fill(0)]);
    }
    for (const multiple of [-70n, -1n, 0n, 1n, 2n, 70n]) {
      kernel.call("reduceSum", out, ...toLimbs(multiple * q));
      assert.deepEqual(kernel.limbs(out, 1), [new Array<number>(LIMBS).fill(0)]);
    }
  });

  it("reads and writes numbers of 32 bytes, also above q", () => {
    const bytes = kernel.allocate(12);
    const factor = kernel.put(kernel.allocate(1), [smallLimbs((1n << (2n * MONTGOMERY_BITS)) % q)]);
    for (const value of [
      0n,
      1n,
      q - 1n,
      q,
      (1n << 256n) - 1n,
      ...Array.from({ length: 200 }, () => randomBelow(1n << 256n)),
    ]) {
      const words = BigUint64Array.from({ length: 4 }, (_, word) => BigInt.asUintN(64, value >> BigInt(64 * word)));
      kernel.bytes(bytes, 64).set(new Uint8Array(words.buffer));
      kernel.bytes(bytes + 32, 32).fill(0);
      kernel.call("import", out, bytes, 2, factor);
      assert.deepEqual(kernel.read(out, 2), [value % q, 0n]);
      kernel.call("export", b, out, 2);
      assert.deepEqual(kernel.limbs(b, 2).map(numberOf), [value % q, 0n]);
    }
  });

  it("inverts in Fq, Fq2 and Fq12, and maps 0 to 0", () => {
    for (let round = 0; round < 50; round++) {
      for (const [degree, count] of [
        [1, 1],
        [2, 2],
        [12, 12],
      ] as const) {
        const numbers = Array.from({ length: count }, () => randomBelow(q));
        kernel.call(`invert${degree}`, out, kernel.write(a, numbers));
        kernel.call(`multiply${degree}`, c, out, a);
        assert.deepEqual(kernel.read(c, count), [1n, ...new Array<bigint>(count - 1).fill(0n)]);
      }
    }
    kernel.call("invert1", out, kernel.write(a, [0n]));
    assert.deepEqual(kernel.read(out, 1), [0n]);
  });

  describe("in Fq12", () => {
    const random = (): bigint[] =>
      Array.from({ length: 12 }, () => pick([randomBelow(q), randomBelow(q), 0n, 1n, q - 1n]));
    const target = (address: number): Target => toTarget(kernel.read(address, 12));

    it("multiplies and squares, also in place", () => {
      for (let round = 0; round < 100; round++) {
        const [x, y] = [random(), random()];
        const product = multiplyTargets(toTarget(x), toTarget(y));
        kernel.call("multiply12", out, kernel.write(a, x), kernel.write(b, y));
        assert.deepEqual(target(out), product);
        kernel.call("multiply12", a, a, b);
        assert.deepEqual(target(a), product);
        kernel.call("multiply12", b, kernel.write(a, x), b);
        assert.deepEqual(target(b), product);
        kernel.call("square12", a, kernel.write(a, x));
        assert.deepEqual(target(a), multiplyTargets(toTarget(x), toTarget(x)));
      }
    });

    it("multiplies by a line at a point", () => {
      for (let round = 0; round < 100; round++) {
        const [x, line, point] = [random(), random().slice(0, 6), random().slice(0, 2)] as [
          bigint[],
          bigint[],
          [bigint, bigint],
        ];
        const scaled = line.map((part, index) => modulo(part * (index < 2 ? point[1] : index < 4 ? point[0] : 1n)));
        const sparse = toTarget([...scaled.slice(0, 2), ...new Array<bigint>(4).fill(0n), ...scaled.slice(2), 0n, 0n]);
        kernel.call("multiplyByLine", kernel.write(a, x), kernel.write(b, line), kernel.write(c, point));
        assert.deepEqual(target(a), multiplyTargets(toTarget(x), sparse));
      }
    });

    it("raises to the powers q and q^6, and squares in the cyclotomic subgroup", () => {
      for (let round = 0; round < 3; round++) {
        const x = random();
        const powered = powerOfTarget(toTarget(x), q);
        kernel.call("frobenius", out, kernel.write(a, x));
        assert.deepEqual(target(out), powered);
        kernel.call("conjugate12", out, a);
        const conjugated = target(out);
        for (let time = 0; time < 6; time++) kernel.call("frobenius", a, a);
        assert.deepEqual(conjugated, target(a));
        // x to the power (q^6 - 1)(q^2 + 1).
        kernel.call("invert12", b, kernel.write(a, x));
        kernel.call("multiply12", b, out, b);
        kernel.call("frobenius", a, b);
        kernel.call("frobenius", a, a);
        kernel.call("multiply12", b, b, a);
        const cyclotomic = target(b);
        kernel.call("squareCyclotomic", b, b);
        assert.deepEqual(target(b), multiplyTargets(cyclotomic, cyclotomic));
        assert.notDeepEqual(cyclotomic, toTarget([1n, ...new Array<bigint>(11).fill(0n)]));
      }
    });

    it("raises to the multiple of (q^12 - 1)/r that the final exponentiation documents", () => {
      const exponent = 2n * X * (6n * X ** 2n + 3n * X + 1n) * ((q ** 12n - 1n) / r);
      const x = random();
      kernel.call("finalExponentiation", out, kernel.write(a, x));
      assert.deepEqual(target(out), powerOfTarget(toTarget(x), exponent));
    });
  });

  it("reads x and 6x + 2 as digits of which no two neighbours count", () => {
    for (const value of [X, 6n * X + 2n, 1n, 2n, 3n]) {
      const digits = signedDigits(value);
      assert.equal(
        digits.reduce((sum, digit) => 2n * sum + BigInt(digit), 0n),
        value,
      );
      assert.equal(digits[0], 1);
      for (const [index, digit] of digits.entries()) assert.isTrue(digit === 0 || (digits[index + 1] ?? 0) === 0);
    }
  });
});
