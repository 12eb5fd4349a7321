// Baby Jubjub with @noble/curves, independent of the circuits and of the protocol package: the oracle of the circuits' tests.
import { babyjubjub } from "@noble/curves/misc.js";
import { divide, mod, squareRoot } from "./field.ts";

/** A point of Baby Jubjub in Edwards coordinates. */
export type Point = { x: bigint; y: bigint };
export type Pair = [bigint, bigint];

export const ORDER = babyjubjub.Point.Fn.ORDER;
export const BASE8: Point = affine(babyjubjub.Point.BASE);
export const IDENTITY: Point = { x: 0n, y: 1n };
export const A = 168698n;

function affine(point: { x: bigint; y: bigint }): Point {
  return { x: point.x, y: point.y };
}

const lift = (point: Point) => babyjubjub.Point.fromAffine(point);

export const add = (a: Point, b: Point): Point => affine(lift(a).add(lift(b)));
export const negate = (a: Point): Point => ({ x: mod(-a.x), y: a.y });

/** k P for any point of the curve (also outside the subgroup) and any k >= 0. */
export function multiply(point: Point, k: bigint): Point {
  let [result, power] = [babyjubjub.Point.ZERO, lift(point)];
  for (let rest = k; rest > 0n; rest >>= 1n, power = power.double()) if (rest & 1n) result = result.add(power);
  return affine(result);
}

/** circomlib's Montgomery form: u = (1 + y) / (1 - y), v = u / x. Not defined for x = 0. */
export function toMontgomery({ x, y }: Point): Pair {
  const u = divide(1n + y, 1n - y);
  return [u, divide(u, x)];
}

/** 1/k modulo the subgroup's order. */
export const invert = (k: bigint): bigint => babyjubjub.Point.Fn.inv(k);

/** The Montgomery form of Q with 8 Q = point, for a point of the prime-order subgroup. */
export const montgomeryEighth = (point: Point): Pair => toMontgomery(multiply(point, invert(8n)));

/** A point of the curve with this x, or undefined. a = 168700, d = 168696. */
function atX(x: bigint): Point | undefined {
  const y = squareRoot(divide(1n - 168700n * x * x, 1n - 168696n * x * x));
  return y === undefined ? undefined : { x, y };
}

/** A point of order 8: some point of the curve multiplied by l. */
function orderEight(): Point {
  for (let x = 2n; ; x++) {
    const point = atX(x);
    if (point === undefined) continue;
    const small = multiply(point, ORDER);
    if (multiply(small, 4n).x !== 0n || multiply(small, 4n).y !== 1n) return small;
  }
}

/** Points of small order: 8, 4 and 2. */
export const T8 = orderEight();
export const T4 = multiply(T8, 2n);
export const T2 = multiply(T8, 4n);

/** The other point with the same x. It is not in the subgroup. */
export const otherY = ({ x, y }: Point): Point => ({ x, y: mod(-y) });

export const inSubgroup = (point: Point): boolean => multiply(point, ORDER).y === 1n && point.y !== 1n;
