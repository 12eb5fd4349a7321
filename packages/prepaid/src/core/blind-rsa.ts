import { sha384 } from "@noble/hashes/sha2.js";
import { isBytes } from "@sotto/protocol";
import { bigIntToBytes, bytesToBigInt, concatBytes, describe, fail } from "@sotto/protocol/extend";
import { PREPAID_EXPONENT } from "./key.ts";

// RSABSSA-SHA384-PSS-Deterministic of RFC 9474. The arithmetic is not constant-time: it handles blinds only on the
// payer's own machine; servers, which have the secret exponent, sign with their platform's RSA.

/** Size of the EMSA-PSS salt, bytes. */
export const PSS_SALT_BYTES = 48;
const HASH_BYTES = 48;

/** Size of a modulus, bytes; its number of bits is a multiple of eight. */
const sizeOf = (modulus: bigint): number => modulus.toString(16).length / 2;

/** x^65537 mod n. */
export function raiseToExponent(x: bigint, n: bigint): bigint {
  let power = x;
  for (let bit = 1; bit < PREPAID_EXPONENT - 1; bit *= 2) power = (power * power) % n;
  return (power * x) % n;
}

function mgf1(seed: Uint8Array, size: number): Uint8Array {
  const blocks: Uint8Array[] = [];
  for (let i = 0; i * HASH_BYTES < size; i++) blocks.push(sha384(concatBytes(seed, bigIntToBytes(BigInt(i), 4))));
  return concatBytes(...blocks).subarray(0, size);
}

/**
 * EMSA-PSS-ENCODE of RFC 8017, section 9.1.1, with SHA-384 and MGF1 with SHA-384, for one bit less than the modulus.
 * @param salt 48 bytes
 * @param modulus n of a checked prepaid key
 * @returns the encoded message as an integer below n
 * @throws SottoError INVALID_ARGUMENT
 */
export function encodePss(message: Uint8Array, salt: Uint8Array, modulus: bigint): bigint {
  if (!isBytes(salt) || salt.length !== PSS_SALT_BYTES)
    fail("INVALID_ARGUMENT", `a salt must be ${PSS_SALT_BYTES} bytes, got ${describe(salt)}`);
  const hash = sha384(concatBytes(new Uint8Array(8), sha384(message), salt));
  const block = new Uint8Array(sizeOf(modulus) - HASH_BYTES - 1);
  block[block.length - PSS_SALT_BYTES - 1] = 0x01;
  block.set(salt, block.length - PSS_SALT_BYTES);
  const mask = mgf1(hash, block.length);
  const masked = block.map((byte, i) => byte ^ mask[i]!);
  masked[0]! &= 0x7f;
  return bytesToBigInt(concatBytes(masked, hash, Uint8Array.of(0xbc)));
}

/** The inverse of x mod n by the extended Euclidean algorithm; undefined if there is none. */
function inverse(x: bigint, n: bigint): bigint | undefined {
  let [a, b, s, t] = [x % n, n, 1n, 0n];
  while (b !== 0n) {
    const q = a / b;
    [a, b, s, t] = [b, a - q * b, t, s - q * t];
  }
  if (a !== 1n) return undefined;
  return s < 0n ? s + n : s;
}

/** The inverses of all values mod n, from a single inversion (Montgomery's trick). */
function inverses(values: readonly bigint[], n: bigint): readonly bigint[] {
  const prefixes: bigint[] = [];
  let product = 1n;
  for (const value of values) {
    prefixes.push(product);
    product = (product * value) % n;
  }
  let rest = inverse(product, n);
  // Finding such a value means factoring the modulus, so the key is broken.
  if (rest === undefined) fail("INVALID_KEY", "a blind has no inverse modulo the prepaid key");
  const result: bigint[] = new Array(values.length);
  for (let i = values.length - 1; i >= 0; i--) {
    result[i] = (rest * prefixes[i]!) % n;
    rest = (rest * values[i]!) % n;
  }
  return result;
}

/** A message with its blind, the input of `blindMessages`. */
export interface BlindInput {
  /** The encoded message, see `encodePss`. */
  readonly encoded: bigint;
  /** The blind r, in [1, n). Secret: with it, the signer could recognise the token. */
  readonly blind: bigint;
}

/**
 * Blind of RFC 9474, section 4.2: encoded · r^e mod n, for each message.
 * @param modulus n of a checked prepaid key
 * @returns the blinded messages, concatenated: 256 bytes each, the size of the modulus
 * @throws SottoError INVALID_KEY if a message or a blind is not invertible mod n
 */
export function blindMessages(inputs: readonly BlindInput[], modulus: bigint): Uint8Array {
  // RFC 9474 requires this check: blinding does not hide a message that shares a factor with n.
  inverses(
    inputs.map(({ encoded }) => encoded),
    modulus,
  );
  const blinded = inputs.map(({ encoded, blind }) => {
    if (blind <= 0n || blind >= modulus) fail("INVALID_SCALAR", "a blind must be from 1 to n - 1");
    return bigIntToBytes((encoded * raiseToExponent(blind, modulus)) % modulus, sizeOf(modulus));
  });
  return concatBytes(...blinded);
}

/**
 * Finalize of RFC 9474, section 4.4: unblinds and verifies each signature. One wrong signature invalidates the whole
 * batch, because the signer could use it to mark tokens.
 * @param signatures the signer's response, 256 bytes for each input
 * @returns the signatures, 256 bytes each
 * @throws SottoError INVALID_SIGNATURE if the response has another length or a signature is wrong
 */
export function finalizeSignatures(
  inputs: readonly BlindInput[],
  signatures: Uint8Array,
  modulus: bigint,
): readonly Uint8Array[] {
  const size = sizeOf(modulus);
  if (!isBytes(signatures) || signatures.length !== inputs.length * size)
    fail("INVALID_SIGNATURE", `${inputs.length} signatures were expected, got ${describe(signatures)}`);
  const inverseBlinds = inverses(
    inputs.map(({ blind }) => blind),
    modulus,
  );
  return inputs.map(({ encoded }, i) => {
    const blindSignature = bytesToBigInt(signatures.subarray(i * size, (i + 1) * size));
    const signature = (blindSignature * inverseBlinds[i]!) % modulus;
    // The salt is known here, so comparing the encodings is a complete verification.
    if (blindSignature >= modulus || raiseToExponent(signature, modulus) !== encoded)
      fail("INVALID_SIGNATURE", `signature ${i + 1} of ${inputs.length} is not the key's`, { index: i });
    return bigIntToBytes(signature, size);
  });
}
