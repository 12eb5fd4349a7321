// Inverses of large integers. Not constant-time: it handles blinds only on the payer's own machine.
import { fail } from "@sotto/protocol/extend";

/** Bits of the leading parts: exact as numbers, also after a division. */
const LEADING_BITS = 48;
const SMALL = 1n << BigInt(LEADING_BITS);

/** The number of bits, or up to 3 more. */
const bitsOf = (x: bigint): number => 4 * x.toString(16).length;

/**
 * The steps that Euclid's algorithm takes for a and b while their leading bits alone determine the quotients: algorithm L of Knuth,
 * The Art of Computer Programming 2, section 4.5.2.
 * @param a a > b
 * @returns the factors of a and b in the next two remainders; undefined if not even one step is decided
 */
function leadingSteps(a: bigint, b: bigint): readonly [bigint, bigint, bigint, bigint] | undefined {
  const shift = BigInt(bitsOf(a) - LEADING_BITS);
  let [high, low] = [Number(a >> shift), Number(b >> shift)];
  let [p, q, r, s] = [1, 0, 0, 1];
  while (low + r !== 0 && low + s !== 0) {
    const quotient = Math.floor((high + p) / (low + r));
    // The parts that were cut off could change the quotient.
    if (quotient !== Math.floor((high + q) / (low + s))) break;
    [high, low] = [low, high - quotient * low];
    [p, r] = [r, p - quotient * r];
    [q, s] = [s, q - quotient * s];
  }
  return q === 0 ? undefined : [BigInt(p), BigInt(q), BigInt(r), BigInt(s)];
}

/**
 * The inverse of x mod n, by Lehmer's variant of the extended Euclidean algorithm: most of its steps are done with numbers of 48 bits,
 * which takes less than half the time.
 * @param x not negative
 * @param n above 1
 * @returns undefined if there is none
 */
export function inverse(x: bigint, n: bigint): bigint | undefined {
  // Invariant: a = s x and b = t x (mod n).
  let [a, b, s, t] = [n, x % n, 0n, 1n];
  while (b !== 0n) {
    const steps = b < SMALL ? undefined : leadingSteps(a, b);
    if (steps === undefined) {
      const quotient = a / b;
      [a, b, s, t] = [b, a - quotient * b, t, s - quotient * t];
    } else {
      const [p, q, r, u] = steps;
      [a, b, s, t] = [p * a + q * b, r * a + u * b, p * s + q * t, r * s + u * t];
    }
  }
  if (a !== 1n) return undefined;
  return s < 0n ? s + n : s;
}

/**
 * The inverses of all values mod n, from a single inversion (Montgomery's trick).
 * @throws SottoError INVALID_KEY if one has none
 */
export function inverses(values: readonly bigint[], n: bigint): readonly bigint[] {
  const prefixes: bigint[] = [];
  let product = 1n;
  for (const value of values) {
    prefixes.push(product);
    product = (product * value) % n;
  }
  let rest = inverse(product, n);
  // Finding a value without an inverse means factoring the modulus, so the key is broken.
  if (rest === undefined) fail("INVALID_KEY", "a message or a blind has no inverse modulo the prepaid key");
  const result: bigint[] = new Array(values.length);
  for (let i = values.length - 1; i >= 0; i--) {
    result[i] = (rest * prefixes[i]!) % n;
    rest = (rest * values[i]!) % n;
  }
  return result;
}
