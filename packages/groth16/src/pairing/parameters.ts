/**
 * The parameters of BN254, from which constants are computed: x, from which the orders follow as p = 36x^4 + 36x^3 + 24x^2 + 6x + 1 and
 * r = 36x^4 + 36x^3 + 18x^2 + 6x + 1, and the twist y^2 = x^3 + 3/(9 + i).
 */
import { BASE_FIELD_ORDER as q } from "../proof/orders.ts";
import { modulo } from "./limbs.ts";

/** The parameter of the curve. */
export const X = 4965661367192848881n;
/** The constant of G1's curve. */
export const B = 3n;

/** An element of Fq2. */
export type Pair = readonly [bigint, bigint];

/** 9 + i: Fq6 = Fq2[v]/(v^3 - XI), Fq12 = Fq6[w]/(w^2 - v). */
export const XI: readonly [number, number] = [9, 1];

export function multiplyPairs([a0, a1]: Pair, [b0, b1]: Pair): Pair {
  return [modulo(a0 * b0 - a1 * b1), modulo(a0 * b1 + a1 * b0)];
}

export function powerOfPair(base: Pair, exponent: bigint): Pair {
  let result: Pair = [1n, 0n];
  for (const bit of exponent.toString(2)) {
    result = multiplyPairs(result, result);
    if (bit === "1") result = multiplyPairs(result, base);
  }
  return result;
}

const xi: Pair = [BigInt(XI[0]), BigInt(XI[1])];

/** 3/XI, the constant of the twist; the multiplicative group of Fq2 has the order q^2 - 1. */
export const TWIST_B: Pair = multiplyPairs([B, 0n], powerOfPair(xi, q * q - 2n));

/** XI^(k(q - 1)/6): the q-th power of w^k is this times w^k. */
export function frobeniusFactor(k: number): Pair {
  return powerOfPair(xi, (BigInt(k) * (q - 1n)) / 6n);
}

/** The digits -1, 0 and 1 of a positive number, from the highest; of two neighbours, one is 0. */
export function signedDigits(value: bigint): number[] {
  const digits: number[] = [];
  for (let rest = value; rest > 0n; rest >>= 1n) {
    const digit = (rest & 1n) === 0n ? 0 : 2 - Number(rest & 3n);
    digits.push(digit);
    rest -= BigInt(digit);
  }
  return digits.toReversed();
}
