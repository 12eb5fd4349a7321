import { describe, fail } from "./errors.ts";

/** Order of the BN254 scalar field: the field of circuits, hashes, commitments and Baby Jubjub coordinates. */
export const FIELD_MODULUS = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;

/** Order q of BN254's base field. The coordinates of proof points are below q. */
export const BASE_FIELD_MODULUS = 21888242871839275222246405745257275088696311157297823662689037894645226208583n;

/** The representative of `value` in [0, p). */
export function toField(value: bigint): bigint {
  if (typeof value !== "bigint") fail("INVALID_FIELD_ELEMENT", `value must be a bigint, got ${describe(value)}`);
  const reduced = value % FIELD_MODULUS;
  return reduced < 0n ? reduced + FIELD_MODULUS : reduced;
}

export function addField(a: bigint, b: bigint): bigint {
  return toField(a + b);
}

export function subtractField(a: bigint, b: bigint): bigint {
  return toField(a - b);
}

export function multiplyField(a: bigint, b: bigint): bigint {
  return toField(a * b);
}

export function powField(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let power = toField(base);
  for (let bits = exponent; bits > 0n; bits >>= 1n) {
    if (bits & 1n) result = (result * power) % FIELD_MODULUS;
    power = (power * power) % FIELD_MODULUS;
  }
  return result;
}

/**
 * Inverse by the extended Euclidean algorithm. Not constant-time.
 * @throws SottoError INVALID_FIELD_ELEMENT if `value` is 0 mod p
 */
export function invertField(value: bigint): bigint {
  return invertModulo(toField(value), FIELD_MODULUS);
}

export function invertModulo(value: bigint, modulus: bigint): bigint {
  if (value === 0n) fail("INVALID_FIELD_ELEMENT", "0 has no inverse: a value other than 0 was expected");
  let [a, b, x, y] = [value, modulus, 1n, 0n];
  while (a > 1n) {
    const quotient = b / a;
    [a, b] = [b - quotient * a, a];
    [x, y] = [y - quotient * x, x];
  }
  return x < 0n ? x + modulus : x;
}

/** sum of coefficients[i] * at^i mod p, by Horner's method. All are field elements. */
export function evaluatePolynomial(coefficients: readonly bigint[], at: bigint): bigint {
  return coefficients.reduceRight((sum, coefficient) => (sum * at + coefficient) % FIELD_MODULUS, 0n);
}

/** Inverts many elements with a single inversion (Montgomery's trick); the result for 0 is 0. */
export function invertFields(values: readonly bigint[]): bigint[] {
  const before: bigint[] = [];
  let product = 1n;
  for (const value of values) {
    before.push(product);
    if (value !== 0n) product = (product * value) % FIELD_MODULUS;
  }
  let inverse = invertField(product);
  const inverses = new Array<bigint>(values.length).fill(0n);
  for (let i = values.length - 1; i >= 0; i--) {
    const value = values[i]!;
    if (value === 0n) continue;
    inverses[i] = (inverse * before[i]!) % FIELD_MODULUS;
    inverse = (inverse * value) % FIELD_MODULUS;
  }
  return inverses;
}

// p - 1 = 2^28 * ODD: the 2-adicity bounds the steps of Tonelli-Shanks.
const TWO_ADICITY = 28;
const ODD = (FIELD_MODULUS - 1n) >> BigInt(TWO_ADICITY);
/** 5 is the smallest quadratic non-residue mod p, and the generator that every BN254 library uses. */
const ROOT_OF_UNITY = powField(5n, ODD);

/** A square root of `value` in [0, p), or null if there is none (Tonelli-Shanks). Not constant-time. */
export function sqrtField(value: bigint): bigint | null {
  const square = toField(value);
  if (square === 0n) return 0n;
  const half = powField(square, (ODD - 1n) / 2n);
  let root = multiplyField(square, half);
  let residue = multiplyField(root, half);
  let generator = ROOT_OF_UNITY;
  let order = TWO_ADICITY;
  while (residue !== 1n) {
    let exponent = 0;
    for (let power = residue; power !== 1n; power = multiplyField(power, power)) exponent++;
    if (exponent >= order) return null;
    let factor = generator;
    for (let i = 0; i < order - exponent - 1; i++) factor = multiplyField(factor, factor);
    order = exponent;
    generator = multiplyField(factor, factor);
    root = multiplyField(root, factor);
    residue = multiplyField(residue, generator);
  }
  return root;
}
