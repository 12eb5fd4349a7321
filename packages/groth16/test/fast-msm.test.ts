import { bn254 } from "@noble/curves/bn254.js";
import { randomBelow } from "@sotto/test-kit/random-below";
import { slow } from "@sotto/test-kit/slow";
import { assert } from "chai";
import type { Term } from "../src/curve.ts";
import { assembleCurveKernel } from "../src/fast/curve-kernel.ts";
import { digitBits, toDigits } from "../src/fast/digits.ts";
import { compileCode, Kernel } from "../src/fast/kernel.ts";
import { COORDINATE_BYTES, type Degree, pointBytes } from "../src/fast/layout.ts";
import { multiply } from "../src/fast/msm.ts";
import { exportPoints, readPoint } from "../src/fast/points.ts";
import { BASE_FIELD_ORDER as q, SCALAR_FIELD_ORDER as r } from "../src/proof/orders.ts";

function toBytes(scalars: readonly bigint[]): Uint8Array {
  return Uint8Array.from(
    scalars.flatMap((scalar) => Array.from({ length: 32 }, (_, byte) => Number((scalar >> BigInt(8 * byte)) & 0xffn))),
  );
}

const newKernel = async (): Promise<Kernel> => Kernel.instantiate(compileCode(assembleCurveKernel(q)));

/** The coordinates of a point as in a proving key's file: Montgomery form with R = 2^256. */
function fromFile(point: Uint8Array): bigint[] {
  const inverse = ((q + 1n) / 2n) ** 256n % q;
  return Array.from({ length: point.length / 32 }, (_, index) => {
    const bytes = point.subarray(32 * index, 32 * index + 32).toReversed();
    return (BigInt(`0x${Buffer.from(bytes).toString("hex")}`) * inverse) % q;
  });
}

/** All points of a list of `count`. */
function allOf(kernel: Kernel, count: number): { count: number; indices: number } {
  const indices = kernel.allocate(4 * count);
  kernel.words(indices, count).set(Array.from({ length: count }, (_, index) => index));
  return { count, indices };
}

const EDGES = [0n, 1n, 2n, r - 1n, r - 2n, r >> 1n, (1n << 253n) - 1n, 1n << 253n, 0xffffffffn, 1n << 32n];

describe("fast engine: signed digits", function () {
  slow(this, "a circuit is compiled, and proofs made");
  for (let bits = 2; bits <= 16; bits++) {
    it(`reconstruct the scalar, ${bits} bits at a time`, async () => {
      const kernel = await newKernel();
      const scalars = [...EDGES, ...Array.from({ length: 50 }, () => randomBelow(r))];
      const { windows, count, values: address } = toDigits(kernel, toBytes(scalars), bits);
      const values = kernel.words(address, windows * count);
      for (const [index, scalar] of scalars.entries()) {
        let sum = 0n;
        for (let window = windows - 1; window >= 0; window--) {
          const digit = values[window * count + index] ?? 0;
          assert.isTrue(digit > -(2 ** (bits - 1)) && digit <= 2 ** (bits - 1));
          sum = (sum << BigInt(bits)) + BigInt(digit);
        }
        assert.equal(sum, scalar);
      }
    });
  }

  it("get larger as the number of points grows", () => {
    assert.isTrue(digitBits(4) < digitBits(1000) && digitBits(1000) < digitBits(100_000));
  });
});

describe("fast engine: a kernel's memory", () => {
  it("ends at 2 GiB, where addresses would become negative", async () => {
    const kernel = await newKernel();
    const mark = kernel.mark();
    assert.throws(() => kernel.allocate(2 ** 31), RangeError, "more than 2 GiB");
    assert.equal(kernel.mark(), mark);
  });
});

describe("fast engine: points at infinity", () => {
  it("are left out of the bases, and the others keep the numbers of their scalars", async () => {
    const kernel = await newKernel();
    for (const kept of [[], [0], [5], [1, 2, 4], [0, 1, 2, 3, 4, 5]]) {
      for (const bytes of [64, 128]) {
        const [points, indices] = [kernel.allocate(6 * bytes), kernel.allocate(6 * 4)];
        kernel.bytes(points, 6 * bytes).fill(0);
        // One byte that is not zero is enough, wherever it is.
        for (const point of kept) kernel.bytes(points + point * bytes + ((point * 37) % bytes), 1).fill(point + 1);
        assert.equal(kernel.call("compact", points, 6, bytes, indices, 10), kept.length);
        assert.deepEqual(
          [...kernel.words(indices, kept.length)],
          kept.map((point) => point + 10),
        );
        for (const [place, point] of kept.entries()) {
          const expected = new Uint8Array(bytes).fill(point + 1, (point * 37) % bytes, ((point * 37) % bytes) + 1);
          assert.deepEqual(kernel.bytes(points + place * bytes, bytes).slice(), expected);
        }
      }
    }
  });
});

describe("fast engine: multi-scalar multiplication", function () {
  slow(this, "a circuit is compiled, and proofs made");
  const { G1, G2 } = bn254;

  function writePoint(kernel: Kernel, degree: Degree, address: number, k: bigint): void {
    const { x, y } = (degree === 1 ? G1 : G2).Point.BASE.multiply(k).toAffine() as { x: unknown; y: unknown };
    const parts = [x, y].flatMap((part) => {
      if (typeof part === "bigint") return [part];
      const { c0, c1 } = part as { c0: bigint; c1: bigint };
      return [c0, c1];
    });
    for (const [index, part] of parts.entries()) kernel.write(address + index * COORDINATE_BYTES, part);
  }

  /** The terms' sum by @noble/curves, in hex. */
  function total(degree: Degree, terms: readonly Term[]): string {
    const { Fp2 } = bn254.fields;
    let sum1 = G1.Point.ZERO;
    let sum2 = G2.Point.ZERO;
    for (const { position, point } of terms) {
      const parts = fromFile(point);
      if (parts.every((part) => part === 0n)) continue;
      const [x0 = 0n, x1 = 0n, y0 = 0n, y1 = 0n] = parts;
      const weight = (1n << BigInt(position)) % r;
      if (degree === 1) sum1 = sum1.add(G1.Point.fromAffine({ x: x0, y: x1 }).multiplyUnsafe(weight));
      else {
        const point = G2.Point.fromAffine({ x: Fp2.fromBigTuple([x0, x1]), y: Fp2.fromBigTuple([y0, y1]) });
        sum2 = sum2.add(point.multiplyUnsafe(weight));
      }
    }
    return degree === 1 ? sum1.toHex() : sum2.toHex();
  }

  for (const degree of [1, 2] as const) {
    const expected = (k: bigint): string =>
      k === 0n ? "" : degree === 1 ? G1.Point.BASE.multiply(k).toHex() : G2.Point.BASE.multiply(k).toHex();

    it(`agrees with @noble/curves in G${degree}, one after the other, with repeated and opposite bases`, async () => {
      const kernel = await newKernel();
      // Few different bases, so that buckets often contain the same point, its opposite and infinity.
      const logarithms = [
        1n,
        1n,
        2n,
        3n,
        r - 1n,
        r - 3n,
        ...Array.from({ length: 10 }, () => 1n + randomBelow(r - 1n)),
      ];
      const points = kernel.allocate(logarithms.length * pointBytes(degree));
      for (const [index, k] of logarithms.entries()) writePoint(kernel, degree, points + index * pointBytes(degree), k);
      const count = logarithms.length;
      const sets = [
        Array.from({ length: count }, () => randomBelow(r)),
        Array.from({ length: count }, (_, index) => EDGES[index % EDGES.length]!),
        Array.from({ length: count }, () => 1n),
        Array.from({ length: count }, (_, index) => (index === 3 ? 5n : 0n)),
      ];
      const mark = kernel.markSecrets();
      for (const [index, scalars] of sets.entries()) {
        const digits = toDigits(kernel, toBytes(scalars), 3 + index);
        const terms = multiply(kernel, degree, { points, ...allOf(kernel, count), digits });
        const sum = scalars.reduce((all, scalar, place) => (all + scalar * logarithms[place]!) % r, 0n);
        assert.equal(total(degree, terms), expected(sum), `set ${index}`);
      }
      kernel.wipe(mark);
      assert.isTrue(kernel.bytes(mark, 1000).every((byte) => byte === 0));
    });

    it(`gives the same sum in G${degree} if two threads share the windows`, async () => {
      const kernel = await newKernel();
      const [count, scalars] = [3, [randomBelow(r), r - 1n, 1n << 253n]];
      const points = kernel.allocate(count * pointBytes(degree));
      for (let index = 0; index < count; index++)
        writePoint(kernel, degree, points + index * pointBytes(degree), BigInt(index + 1));
      const digits = toDigits(kernel, toBytes(scalars), 7);
      // Groups of two windows, of which the threads take 0, 2, 4, ... and 1, 3, 5, ...; there is an odd number of windows.
      assert.equal(digits.windows % 2, 1);
      const terms = [0, 1].map((first) => {
        let next = first - 2;
        const share = () => {
          next += 2;
          return next;
        };
        return multiply(kernel, degree, { points, ...allOf(kernel, count), digits, share });
      });
      assert.isTrue(terms.every((own) => own.length > 0));
      const sum = scalars.reduce((all, scalar, index) => (all + scalar * BigInt(index + 1)) % r, 0n);
      assert.equal(total(degree, terms.flat()), expected(sum));
    });

    it(`sums windows one after the other in G${degree} if they have too many buckets together`, async () => {
      const kernel = await newKernel();
      const scalars = [randomBelow(r), r - 1n, 1n, 1n << 253n, randomBelow(r)];
      const points = kernel.allocate(scalars.length * pointBytes(degree));
      for (let index = 0; index < scalars.length; index++)
        writePoint(kernel, degree, points + index * pointBytes(degree), BigInt(index + 1));
      const sum = scalars.reduce((all, scalar, index) => (all + scalar * BigInt(index + 1)) % r, 0n);
      const task = { points, ...allOf(kernel, scalars.length) };
      // All 22 windows have 45,056 buckets, or each of 16 has 32,768.
      for (const bits of [12, 16]) {
        const terms = multiply(kernel, degree, { ...task, digits: toDigits(kernel, toBytes(scalars), bits) });
        assert.equal(total(degree, terms), expected(sum), `${bits} bits`);
      }
      // The second sum took no more memory than a window and its digits.
      assert.isBelow(kernel.buffer.byteLength, 4 * 2 ** 15 * pointBytes(degree));
    });

    it(`has no terms in G${degree} if all scalars are zero or there are none`, async () => {
      const kernel = await newKernel();
      const points = kernel.allocate(pointBytes(degree));
      writePoint(kernel, degree, points, 7n);
      const zero = { points, ...allOf(kernel, 1), digits: toDigits(kernel, toBytes([0n])) };
      const none = { points, ...allOf(kernel, 0), digits: toDigits(kernel, new Uint8Array(0)) };
      assert.deepEqual(multiply(kernel, degree, zero), []);
      assert.deepEqual(multiply(kernel, degree, none), []);
    });

    it(`exports points of G${degree} as a proving key has them, negated if bit 0 of the address is set`, async () => {
      const kernel = await newKernel();
      const points = kernel.allocate(3 * pointBytes(degree));
      for (const [index, k] of [1n, 7n].entries()) writePoint(kernel, degree, points + index * pointBytes(degree), k);
      const infinity = points + 2 * pointBytes(degree);
      kernel.bytes(infinity, pointBytes(degree)).fill(0);
      const addresses = [points, points + 1, points + pointBytes(degree) + 1, infinity, infinity + 1];
      const bytes = exportPoints(kernel, degree, addresses);
      const size = bytes.length / addresses.length;
      for (const [index, address] of addresses.entries()) {
        const point = fromFile(bytes.subarray(index * size, (index + 1) * size));
        assert.deepEqual(point, readPoint(kernel, degree, address));
      }
    });

    it(`uses the same memory for each sum in G${degree}`, async () => {
      const kernel = await newKernel();
      const points = kernel.allocate(pointBytes(degree));
      writePoint(kernel, degree, points, 7n);
      const task = { points, ...allOf(kernel, 1), digits: toDigits(kernel, toBytes([r - 1n])) };
      const mark = kernel.mark();
      const terms = multiply(kernel, degree, task);
      const { byteLength } = kernel.buffer;
      assert.equal(kernel.mark(), mark);
      assert.deepEqual(multiply(kernel, degree, task), terms);
      assert.equal(kernel.buffer.byteLength, byteLength);
    });
  }
});
