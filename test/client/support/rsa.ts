// Raw RSA with bigints, to compute what a merchant could compute from its messages and signatures.

export const toBigInt = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString("hex")}`);

/** Parts of 256 bytes: messages or signatures. */
export const partsOf = (bytes: Uint8Array): Uint8Array[] =>
  Array.from({ length: bytes.length / 256 }, (_, i) => bytes.subarray(i * 256, (i + 1) * 256));

/** value^65537 mod n. */
export function raised(value: bigint, n: bigint): bigint {
  let power = value;
  for (let i = 0; i < 16; i += 1) power = (power * power) % n;
  return (power * value) % n;
}

export function invert(value: bigint, modulus: bigint): bigint {
  let [a, b, s, t] = [value, modulus, 1n, 0n];
  while (b !== 0n) {
    const quotient = a / b;
    [a, b, s, t] = [b, a - quotient * b, t, s - quotient * t];
  }
  return ((s % modulus) + modulus) % modulus;
}
