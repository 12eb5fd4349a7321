/** Points in a curve kernel's memory: coordinates one after the other; infinity is all zeros. */

import { type Kernel, power } from "./kernel.ts";
import { COORDINATE_BYTES, type Degree, ENTRY_BYTES, pointBytes, SCALAR_BYTES } from "./layout.ts";
import { FILE_MONTGOMERY_BITS } from "./zkey.ts";

/** x and y, each of `degree` parts. An address with bit 0 set means the negated point. */
export type Coordinates = bigint[];

export function readPoint(kernel: Kernel, degree: Degree, address: number): Coordinates {
  const base = address & -2;
  const parts = Array.from({ length: 2 * degree }, (_, index) => kernel.read(base + index * COORDINATE_BYTES));
  return address & 1
    ? parts.map((part, index) => (index < degree ? part : (kernel.modulus - part) % kernel.modulus))
    : parts;
}

/** Points as in a proving key's file, one after the other. */
export function exportPoints(kernel: Kernel, degree: Degree, addresses: readonly number[]): Uint8Array {
  const entries = kernel.allocate(addresses.length * ENTRY_BYTES);
  kernel.words(entries, addresses.length).set(addresses);
  const size = addresses.length * 2 * degree * SCALAR_BYTES;
  const to = kernel.allocate(size);
  // They include the kernel's R, by which the product is divided.
  const factor = kernel.allocatePair((1n << FILE_MONTGOMERY_BITS) % kernel.modulus);
  const end = entries + addresses.length * ENTRY_BYTES;
  kernel.call("export", entries, end, degree, to, factor);
  return kernel.bytes(to, size).slice();
}

/**
 * Corrects the sum of a pair that batch addition may have computed wrongly: equal points, opposite points, or a point at
 * infinity. Coordinates are canonical, so comparing limbs is enough.
 */
export function correctSum(kernel: Kernel, degree: Degree, left: number, right: number, out: number): void {
  const sum = exceptionalSum(kernel, degree, left, right) ?? [];
  for (const [index, part] of sum.entries()) kernel.write(out + index * COORDINATE_BYTES, part);
}

/** The sum of a pair that `correctSum` corrects; undefined for any other pair. */
function exceptionalSum(kernel: Kernel, degree: Degree, left: number, right: number): Coordinates | undefined {
  const doubles = pointBytes(degree) / 8;
  const [a, b] = [kernel.doubles(left & -2, doubles), kernel.doubles(right & -2, doubles)];
  if (a.every((limb) => limb === 0)) return readPoint(kernel, degree, right);
  if (b.every((limb) => limb === 0)) return readPoint(kernel, degree, left);
  const same = (from: number, to: number): boolean =>
    a.subarray(from, to).every((limb, index) => limb === b[from + index]);
  if (!same(0, doubles / 2)) return undefined;
  // Points with the same x are equal or opposite, and no point of odd order is its own opposite.
  const equal = same(doubles / 2, doubles) === ((left & 1) === (right & 1));
  return equal ? double(readPoint(kernel, degree, left), kernel.modulus) : Array.from({ length: 2 * degree }, () => 0n);
}

/** Takes about 100 microseconds, but few bases of a key are equal. No base has y = 0, because its order is odd. */
function double(point: Coordinates, q: bigint): Coordinates {
  const degree = point.length / 2;
  const [x, y] = [point.slice(0, degree), point.slice(degree)] as [bigint[], bigint[]];
  const mod = (value: bigint): bigint => ((value % q) + q) % q;
  // In Fq2 = Fq[i]/(i^2 + 1): (a0 + a1·i)(b0 + b1·i) = a0·b0 - a1·b1 + (a0·b1 + a1·b0)i.
  const multiply = ([a0 = 0n, a1 = 0n]: bigint[], [b0 = 0n, b1 = 0n]: bigint[]): bigint[] =>
    [mod(a0 * b0 - a1 * b1), mod(a0 * b1 + a1 * b0)].slice(0, degree);
  const subtract = (a: bigint[], b: bigint[]): bigint[] => a.map((part, index) => mod(part - (b[index] ?? 0n)));
  const scale = (a: bigint[], factor: bigint): bigint[] => a.map((part) => mod(part * factor));
  // 1/(a0 + a1·i) = (a0 - a1·i)/(a0^2 + a1^2).
  const [y0 = 0n, y1 = 0n] = scale(y, 2n);
  const inverse = scale([y0, -y1].slice(0, degree), power(y0 * y0 + y1 * y1, q - 2n, q));
  const slope = multiply(scale(multiply(x, x), 3n), inverse);
  const sum = subtract(multiply(slope, slope), scale(x, 2n));
  return [...sum, ...subtract(multiply(slope, subtract(x, sum)), y)];
}
