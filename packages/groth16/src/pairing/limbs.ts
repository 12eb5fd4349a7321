/**
 * Elements of the base field as nine signed limbs of 29 bits, 32 bits each in memory, in Montgomery form with R = 2^261.
 *
 * An element is *small* if no limb exceeds SMALL_LIMB = 2^28 + 2^7 in absolute value, and its value v is at most 0.6 p in absolute
 * value. Every product and every reduced sum is small. A sum of n small elements, with or without signs, has the *weight* n: its
 * limbs are at most n·SMALL_LIMB and its value at most 0.6 n p.
 *
 * A small element that is 0 modulo p has only zero limbs: its value is 0, because |v| < p; its lowest limb is then a multiple of 2^29
 * below 2^29 in absolute value, thus 0, and so on upwards. So comparing limbs with 0 is enough.
 */
import { BASE_FIELD_ORDER } from "../proof/orders.ts";

// Literals, because a page's bundler leaves out unused literals, but no unused products. The tests compare them.
/** Limbs of an element. */
export const LIMBS = 9;
/** Bits of a limb. */
export const LIMB_BITS = 29n;
const RADIX = 0x2000_0000n;
/** Half of the radix: limbs of a product are from -HALF to HALF - 1. */
export const HALF = 0x1000_0000n;
/** The largest limb of a small element. */
export const SMALL_LIMB = 0x1000_0080n;
/** Bits of Montgomery's R. */
export const MONTGOMERY_BITS = 261n;
/** Size of an element in memory. */
export const ELEMENT_BYTES = 36;

/**
 * The limbs of a number, from the lowest: all but the last from -2^28 to 2^28 - 1.
 * @param value of any sign; the last limb has the remaining bits
 */
export function toLimbs(value: bigint): bigint[] {
  let rest = value;
  return Array.from({ length: LIMBS }, (_, index) => {
    if (index === LIMBS - 1) return rest;
    const limb = BigInt.asIntN(Number(LIMB_BITS), rest);
    rest = (rest - limb) >> LIMB_BITS;
    return limb;
  });
}

/** The number that limbs represent. */
export function fromLimbs(limbs: Iterable<number>): bigint {
  return [...limbs].reduceRight((value, limb) => value * RADIX + BigInt(limb), 0n);
}

/** The remainder from 0 to q - 1. */
export const modulo = (value: bigint, q = BASE_FIELD_ORDER): bigint => ((value % q) + q) % q;

/** A number in Montgomery form, between -q/2 and q/2. */
export function toMontgomery(value: bigint): bigint {
  const result = modulo(value << MONTGOMERY_BITS);
  return 2n * result > BASE_FIELD_ORDER ? result - BASE_FIELD_ORDER : result;
}

/** -1/q mod 2^29. */
export function negativeInverse(): bigint {
  let inverse = 1n;
  // Newton's iteration doubles the number of correct bits.
  for (let bits = 1n; bits < LIMB_BITS; bits *= 2n)
    inverse = modulo(inverse * (2n - BASE_FIELD_ORDER * inverse), RADIX);
  return RADIX - inverse;
}
