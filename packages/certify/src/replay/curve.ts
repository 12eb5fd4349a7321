// Baby Jubjub with @noble/curves, independent of the circuits and of the protocol package: the oracle of the circuits' tests.
import { babyjubjub } from "@noble/curves/misc.js";
import { divide, mod } from "./field.ts";

/** A point of Baby Jubjub in Edwards coordinates. */
export type Point = { x: bigint; y: bigint };
/** The coordinates (u, v) of a point in Montgomery form. */
export type Pair = [bigint, bigint];

/** The prime order of the subgroup. */
export const ORDER = babyjubjub.Point.Fn.ORDER;
/** The generator of the subgroup of prime order, in Edwards form. */
export const BASE8: Point = affine(babyjubjub.Point.BASE);
/** The identity in Edwards form. */
export const IDENTITY: Point = { x: 0n, y: 1n };
/** The coefficient of u^2 in the Montgomery form. */
export const A = 168698n;
/** The coefficient a of the Edwards form a x^2 + y^2 = 1 + d x^2 y^2. */
export const EDWARDS_A = 168700n;
/** Its coefficient d. */
export const EDWARDS_D = 168696n;
/** Whether a point is on the curve. */
export const onEdwards = ({ x, y }: Point): boolean =>
  mod(EDWARDS_A * x * x + y * y - 1n - EDWARDS_D * x * x * y * y) === 0n;
/** Whether an interval contains a multiple of ORDER. */
export const hasMultipleOfOrder = (low: bigint, high: bigint): boolean => {
  const first = ((low % ORDER) + ORDER) % ORDER;
  return first === 0n || high - low >= ORDER - first;
};

function affine(point: { x: bigint; y: bigint }): Point {
  return { x: point.x, y: point.y };
}

const lift = (point: Point) => babyjubjub.Point.fromAffine(point);

/** The sum of two points in Edwards form. */
export const add = (a: Point, b: Point): Point => affine(lift(a).add(lift(b)));
/** The opposite point in Edwards form. */
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
