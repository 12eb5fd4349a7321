import { invert, invertAll, mod, power, rootOfUnity } from "./field.ts";

/**
 * The Lagrange polynomials of the 2^logarithm-th roots of unity, evaluated at `point` (which must not be such a root):
 * L_i(x) = (x^n - 1) / n * w^i / (x - w^i). With `offset` and `stride`, only those for i = offset, offset + stride, ...
 */
export function lagrangeAt(point: bigint, logarithm: number, offset = 0, stride = 1): bigint[] {
  const size = 1n << BigInt(logarithm);
  const root = rootOfUnity(logarithm);
  const step = power(root, BigInt(stride));
  const roots: bigint[] = [];
  for (let index = offset, current = power(root, BigInt(offset)); index < size; index += stride) {
    roots.push(current);
    current = mod(current * step);
  }
  const factor = mod((power(point, size) - 1n) * invert(size));
  const inverses = invertAll(roots.map((value) => mod(point - value)));
  return roots.map((value, index) => mod(mod(factor * value) * inverses[index]!));
}

/** The first powers of x, each multiplied by `first`: first, first x, first x^2, ... */
export function powersOf(point: bigint, count: number, first = 1n): bigint[] {
  const powers = new Array<bigint>(count);
  for (let index = 0, current = first; index < count; index++, current = mod(current * point)) powers[index] = current;
  return powers;
}
