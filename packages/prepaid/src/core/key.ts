import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, hexToBytes, isBytes } from "@sotto/protocol";
import { bigIntToBytes, bytesToBigInt, concatBytes, describe, fail } from "@sotto/protocol/extend";

/** Size of the modulus, of a blinded message and of a signature, bytes: keys have 2,048 bits. */
export const PREPAID_KEY_BYTES = 256;

/** The public exponent of every prepaid key. */
export const PREPAID_EXPONENT = 65537;

/**
 * The SubjectPublicKeyInfo of RFC 9578, DER: id-RSASSA-PSS with SHA-384, MGF1 with SHA-384 and a salt of 48 bytes. For a
 * modulus of exactly 2,048 bits and the exponent 65537, everything around the modulus is constant.
 */
const PSS_PREFIX = hexToBytes(
  "0x30820152303d06092a864886f70d01010a3030a00d300b0609608648016503040202a11a301806092a864886f70d010108300b0609608648016503040202a2030201300382010f003082010a0282010100",
  81,
);
/** The same key as rsaEncryption: neither WebCrypto nor raw RSA operations accept the other form. */
const RSA_PREFIX = hexToBytes("0x30820122300d06092a864886f70d01010105000382010f003082010a0282010100", 33);
const SUFFIX = hexToBytes("0x0203010001", 5);
/** Size of the DER encoding of RFC 9578, bytes. */
export const PREPAID_SPKI_BYTES = PSS_PREFIX.length + PREPAID_KEY_BYTES + SUFFIX.length;

/** The public key of a merchant for one prepaid value and one epoch. */
export interface PrepaidKey {
  /** The RSA modulus: odd, exactly 2,048 bits. */
  readonly modulus: bigint;
  /** token_key_id of RFC 9578: SHA-256 of `spki`, lower-case hex with 0x. */
  readonly id: string;
}

/**
 * Makes the prepaid key with this modulus.
 * @throws SottoError INVALID_KEY if the modulus is even or does not have exactly 2,048 bits
 */
export function prepaidKey(modulus: bigint): PrepaidKey {
  if (typeof modulus !== "bigint" || modulus < 0n || modulus.toString(2).length !== 8 * PREPAID_KEY_BYTES)
    fail("INVALID_KEY", "the modulus of a prepaid key must have exactly 2048 bits");
  if ((modulus & 1n) === 0n) fail("INVALID_KEY", "the modulus of a prepaid key must be odd");
  return { modulus, id: bytesToHex(sha256(encodePrepaidKey(modulus))) };
}

/** The key's SubjectPublicKeyInfo of RFC 9578, DER, 342 bytes. */
export const encodePrepaidKey = (modulus: bigint): Uint8Array =>
  concatBytes(PSS_PREFIX, bigIntToBytes(modulus, PREPAID_KEY_BYTES), SUFFIX);

/** The key's SubjectPublicKeyInfo as rsaEncryption, DER, 294 bytes: the form that node:crypto and WebCrypto import. */
export const encodeRsaKey = (modulus: bigint): Uint8Array =>
  concatBytes(RSA_PREFIX, bigIntToBytes(modulus, PREPAID_KEY_BYTES), SUFFIX);

/** Inverse of `encodeRsaKey`, for an encoding that this platform made. */
export const modulusOfRsaKey = (spki: Uint8Array): bigint =>
  bytesToBigInt(spki.subarray(RSA_PREFIX.length, spki.length - SUFFIX.length));

/**
 * Parses the canonical SubjectPublicKeyInfo of RFC 9578. A key has only this one encoding, so it has only one id.
 * @param spki 342 bytes, DER
 * @throws SottoError INVALID_KEY if the encoding, size, algorithm or exponent differs
 */
export function parsePrepaidKey(spki: unknown): PrepaidKey {
  if (!isBytes(spki) || spki.length !== PREPAID_SPKI_BYTES)
    fail("INVALID_KEY", `a prepaid key must be ${PREPAID_SPKI_BYTES} bytes of DER, got ${describe(spki)}`);
  const end = PSS_PREFIX.length + PREPAID_KEY_BYTES;
  const constant = PSS_PREFIX.every((byte, i) => spki[i] === byte) && SUFFIX.every((byte, i) => spki[end + i] === byte);
  if (!constant) fail("INVALID_KEY", "a prepaid key must be RSASSA-PSS with SHA-384, 2048 bits and the exponent 65537");
  return prepaidKey(bytesToBigInt(spki.subarray(PSS_PREFIX.length, end)));
}
