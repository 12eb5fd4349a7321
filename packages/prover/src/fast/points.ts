/** Points in a curve kernel's memory: coordinates one after the other; infinity is all zeros. */
import { bn254 } from "@noble/curves/bn254.js";
import { COORDINATE_BYTES, type Degree, pointBytes } from "./curve-kernel.ts";
import type { Kernel } from "./kernel.ts";

/** x and y, each of `degree` parts. An address with bit 0 set means the negated point. */
export type Coordinates = bigint[];

export function readPoint(kernel: Kernel, degree: Degree, address: number): Coordinates {
  const base = address & -2;
  const parts = Array.from({ length: 2 * degree }, (_, index) => kernel.read(base + index * COORDINATE_BYTES));
  return address & 1
    ? parts.map((part, index) => (index < degree ? part : (kernel.modulus - part) % kernel.modulus))
    : parts;
}

export function isInfinity(point: Coordinates): boolean {
  return point.every((part) => part === 0n);
}

/**
 * Corrects the sum of a pair that batch addition may have computed wrongly: equal points, opposite points, or a point at
 * infinity. Coordinates are canonical, so comparing limbs is enough.
 */
export function correctSum(kernel: Kernel, degree: Degree, left: number, right: number, out: number): void {
  const sum = exceptionalSum(kernel, degree, left, right) ?? [];
  for (const [index, part] of sum.entries()) kernel.write(out + index * COORDINATE_BYTES, part);
}

/** The sum of such a pair; undefined for any other pair. */
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
  return equal ? double(readPoint(kernel, degree, left)) : Array.from({ length: 2 * degree }, () => 0n);
}

/** Takes about 100 microseconds with @noble/curves, but few bases of a key are equal. */
function double(point: Coordinates): Coordinates {
  const [x0 = 0n, x1 = 0n, y0 = 0n, y1 = 0n] = point;
  if (point.length === 2) {
    const { x, y } = bn254.G1.Point.fromAffine({ x: x0, y: x1 }).double().toAffine();
    return [x, y];
  }
  const { Fp2 } = bn254.fields;
  const affine = { x: Fp2.fromBigTuple([x0, x1]), y: Fp2.fromBigTuple([y0, y1]) };
  const { x, y } = bn254.G2.Point.fromAffine(affine).double().toAffine();
  return [x.c0, x.c1, y.c0, y.c1];
}
