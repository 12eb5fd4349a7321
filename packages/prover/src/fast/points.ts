/** Points in a curve kernel's memory: coordinates one after the other, infinity as zeros. */
import { bn254 } from "@noble/curves/bn254.js";
import { COORDINATE_BYTES, type Degree, pointBytes } from "./curve-kernel.ts";
import type { Kernel } from "./kernel.ts";

/** x and y, each of `degree` parts. An address with bit 0 set stands for the negated point. */
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
 * Adds two points with complete formulas and writes the sum: for the few pairs that batch addition cannot do, where a
 * point meets itself, its opposite or infinity. @noble/curves takes some 100 microseconds for it.
 */
export function addSlowly(kernel: Kernel, degree: Degree, left: number, right: number, out: number): void {
  const [a, b] = [readPoint(kernel, degree, left), readPoint(kernel, degree, right)];
  const sum = degree === 1 ? add1(a, b) : add2(a, b);
  for (const [index, part] of sum.entries()) kernel.write(out + index * COORDINATE_BYTES, part);
}

function add1(left: Coordinates, right: Coordinates): Coordinates {
  const { Point } = bn254.G1;
  const [a, b] = [left, right].map(([x = 0n, y = 0n]) =>
    x === 0n && y === 0n ? Point.ZERO : Point.fromAffine({ x, y }),
  );
  const { x, y } = (a ?? Point.ZERO).add(b ?? Point.ZERO).toAffine();
  return [x, y];
}

function add2(left: Coordinates, right: Coordinates): Coordinates {
  const { Point } = bn254.G2;
  const { Fp2 } = bn254.fields;
  const [a, b] = [left, right].map((point) => {
    const [x0 = 0n, x1 = 0n, y0 = 0n, y1 = 0n] = point;
    return isInfinity(point)
      ? Point.ZERO
      : Point.fromAffine({ x: Fp2.fromBigTuple([x0, x1]), y: Fp2.fromBigTuple([y0, y1]) });
  });
  const { x, y } = (a ?? Point.ZERO).add(b ?? Point.ZERO).toAffine();
  return [x.c0, x.c1, y.c0, y.c1];
}

/** Copies points that would be overwritten to a place of their own. */
export function copyPoint(kernel: Kernel, degree: Degree, from: number, to: number): void {
  const bytes = pointBytes(degree);
  kernel.bytes(0, kernel.memory.buffer.byteLength).copyWithin(to, from, from + bytes);
}
