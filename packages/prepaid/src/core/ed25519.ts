import { ed25519 } from "@noble/curves/ed25519.js";
import { bytesToHex, hexToBytes, isBytes } from "@sotto/protocol";
import { fail } from "@sotto/protocol/extend";

/** Size of an Ed25519 secret and of a public key, bytes. */
export const ED25519_KEY_BYTES = 32;
/** Size of an Ed25519 signature, bytes. */
export const ED25519_SIGNATURE_BYTES = 64;

/**
 * Checks a public key that another party chose: the canonical encoding of a point that is not of small order. A key of small
 * order has signatures that fit several messages.
 * @param key 32 bytes, hex with 0x
 * @throws SottoError INVALID_HEX, INVALID_KEY
 */
export function assertEd25519Key(key: unknown, name: string): string {
  const bytes = hexToBytes(key, ED25519_KEY_BYTES, name);
  let isSafe = false;
  try {
    isSafe = !ed25519.Point.fromBytes(bytes).isSmallOrder();
  } catch {
    // The bytes encode no point.
  }
  if (!isSafe) fail("INVALID_KEY", `${name} must be a public Ed25519 key`);
  return bytesToHex(bytes);
}

/** Checks an Ed25519 secret, or one from which they are derived; the error never describes it. @throws SottoError INVALID_KEY */
export function assertSecret(secret: unknown, name: string): Uint8Array {
  if (!isBytes(secret) || secret.length !== ED25519_KEY_BYTES)
    fail("INVALID_KEY", `${name} must be ${ED25519_KEY_BYTES} bytes`);
  return secret;
}

/**
 * Verifies an Ed25519 signature strictly: encodings that are not canonical and keys of small order are refused.
 * @returns false also if the signature or the key does not decode
 */
export function verifyEd25519(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  try {
    return ed25519.verify(signature, message, publicKey, { zip215: false });
  } catch {
    return false;
  }
}
