/** BN254's base field (coordinates of points) and scalar field (everything a circuit computes with). */
export const BASE_MODULUS = 21888242871839275222246405745257275088696311157297823662689037894645226208583n;
export const SCALAR_MODULUS = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;

/** 2^28 divides r - 1, and 5 is the least non-residue: BN254 libraries derive their roots of unity from it. */
const TWO_ADICITY = 28;
const NON_RESIDUE = 5n;

export const mod = (value: bigint): bigint => {
  const rest = value % SCALAR_MODULUS;
  return rest < 0n ? rest + SCALAR_MODULUS : rest;
};

export function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let square = mod(base), bits = exponent; bits > 0n; bits >>= 1n, square = mod(square * square))
    if (bits & 1n) result = mod(result * square);
  return result;
}

export const invert = (value: bigint): bigint => power(value, SCALAR_MODULUS - 2n);

/** Inverts all elements with one inversion (Montgomery's trick). No element may be 0. */
export function invertAll(values: bigint[]): bigint[] {
  const prefixes: bigint[] = [];
  let product = 1n;
  for (const value of values) {
    prefixes.push(product);
    product = mod(product * value);
  }
  let inverse = invert(product);
  const inverses = new Array<bigint>(values.length);
  for (let index = values.length - 1; index >= 0; index--) {
    inverses[index] = mod(inverse * prefixes[index]!);
    inverse = mod(inverse * values[index]!);
  }
  return inverses;
}

/** The primitive 2^logarithm-th root of unity that snarkjs and other BN254 libraries use. */
export function rootOfUnity(logarithm: number): bigint {
  if (logarithm > TWO_ADICITY)
    throw new RangeError(`there is no root of unity of order 2^${logarithm}; the largest order is 2^${TWO_ADICITY}`);
  return power(NON_RESIDUE, (SCALAR_MODULUS - 1n) >> BigInt(logarithm));
}

const ELEMENT = 32;
const LIMB = 0xffffffffffffffffn;

/** Encodes field elements for the wasm code: 32 bytes each, little-endian, not in Montgomery form. */
export function toBytes(values: bigint[]): Uint8Array<ArrayBuffer> {
  const limbs = new BigUint64Array(values.length * 4);
  values.forEach((value, index) => {
    for (let limb = 0; limb < 4; limb++) limbs[index * 4 + limb] = (value >> BigInt(64 * limb)) & LIMB;
  });
  return new Uint8Array(limbs.buffer);
}

export function fromBytes(bytes: Uint8Array): bigint[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.byteLength / ELEMENT }, (_, index) => {
    let value = 0n;
    for (let limb = 3; limb >= 0; limb--) value = (value << 64n) | view.getBigUint64(index * ELEMENT + limb * 8, true);
    return value;
  });
}
