/** Field elements as five limbs of 51 bits: the radix at which a product splits into two exact doubles. */

/** Limbs of a field element. */
export const LIMBS = 5;
/** Bits of a limb. */
export const RADIX_BITS = 51n;
// Literals, because a page's bundler leaves out unused literals, but no unused products.
const RADIX = 0x8_0000_0000_0000n;
const MASK = 0x7_ffff_ffff_ffffn;
/** Bits of Montgomery's R, 2^255. */
export const MONTGOMERY_BITS = 255n;

/**
 * Splits a number into limbs, least significant first.
 * @param value from 0 to 2^257 - 1; the last limb has the remaining bits
 */
export function toLimbs(value: bigint): number[] {
  return Array.from({ length: LIMBS }, (_, limb) => {
    const rest = value >> (RADIX_BITS * BigInt(limb));
    return Number(limb === LIMBS - 1 ? rest : rest & MASK);
  });
}

/** The number of five doubles that are integers, possibly negative. */
export function fromLimbs(limbs: ArrayLike<number>, offset = 0): bigint {
  let value = 0n;
  for (let limb = LIMBS - 1; limb >= 0; limb--) value = value * RADIX + BigInt(limbs[offset + limb] ?? 0);
  return value;
}

/** The bits of a double, as the integer that i64 arithmetic sees. */
export function bitsOf(double: number): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, double);
  return view.getBigUint64(0);
}

/** -1 / modulus mod 2^51, by Newton's iteration. */
export function negativeInverse(modulus: bigint): bigint {
  let inverse = 1n;
  for (let bits = 1n; bits < RADIX_BITS; bits *= 2n) inverse = (inverse * (2n - modulus * inverse)) & MASK;
  return (RADIX - (((inverse % RADIX) + RADIX) & MASK)) & MASK;
}

/** The factor with which `import` converts value·2^scale to value·R. */
export function importFactor(modulus: bigint, scale: bigint): bigint {
  let factor = 1n;
  for (let bit = 0n; bit < 2n * MONTGOMERY_BITS - scale; bit++) factor = (factor * 2n) % modulus;
  // 2^-1 = (p + 1)/2, for scales above 2·255.
  for (let bit = 0n; bit < scale - 2n * MONTGOMERY_BITS; bit++) factor = (factor * ((modulus + 1n) / 2n)) % modulus;
  return factor;
}
