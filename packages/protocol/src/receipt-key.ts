import { ed25519 } from "@noble/curves/ed25519.js";
import { hmac } from "@noble/hashes/hmac.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { fail } from "./errors.ts";
import { FIELD_MODULUS } from "./field.ts";
import { bigIntToBytes, bytesToBigInt, concatBytes } from "./hex.ts";
import { assertField } from "./validate.ts";

function assertKey(key: unknown, name: string): Uint8Array {
  if (!(key instanceof Uint8Array) || key.length !== 32) fail("INVALID_KEY", `${name} must be 32 bytes`);
  return key;
}

function assertMessage(message: unknown): Uint8Array {
  if (!(message instanceof Uint8Array)) fail("INVALID_ARGUMENT", "a message must be bytes");
  return message;
}

const DOMAIN = utf8ToBytes("sotto/v1/receipt-key");

/**
 * The private receipt key of one attempt of a payment, an Ed25519 seed: HMAC-SHA512 of nf and R.x under a wallet secret.
 * r is fresh for each attempt, so the key is too, and tells nothing about the key of another payment; the wallet can make
 * it again whenever a receipt is asked for.
 *
 * @param nonceKey 32 bytes
 */
export function receiptSecret(nonceKey: Uint8Array, nf: bigint, ephemeralX: bigint): Uint8Array {
  assertKey(nonceKey, "nonceKey");
  const words = [assertField(nf, "nullifier"), assertField(ephemeralX, "R.x")].map((word) => bigIntToBytes(word, 32));
  return hmac(sha512, nonceKey, concatBytes(...words)).slice(0, 32);
}

/** The public receipt key of a private one: 32 bytes. Secret like the nonce until its owner shows a receipt. */
export function receiptKeyOf(secret: Uint8Array): Uint8Array {
  return ed25519.getPublicKey(assertKey(secret, "the receipt secret"));
}

/**
 * The nonce of a sender commitment is the hash of a public key, so that opening it later is not the end: the payer can
 * sign what a verifier asks it to, and who only copied an opening cannot. 64 bytes reduced mod p: uniform up to 2^-256.
 *
 * @param receiptKey 32 bytes
 */
export function nonceOfReceiptKey(receiptKey: Uint8Array): bigint {
  return bytesToBigInt(sha512(concatBytes(DOMAIN, assertKey(receiptKey, "a receipt key")))) % FIELD_MODULUS;
}

/** The Ed25519 signature (64 bytes) of a receipt key. */
export function signWithReceiptKey(message: Uint8Array, secret: Uint8Array): Uint8Array {
  return ed25519.sign(assertMessage(message), assertKey(secret, "the receipt secret"));
}

/** Strict verification (RFC 8032, no cofactor): false for a signature or a key that does not decode. */
export function verifyReceiptSignature(signature: Uint8Array, message: Uint8Array, receiptKey: Uint8Array): boolean {
  assertKey(receiptKey, "a receipt key");
  assertMessage(message);
  try {
    return ed25519.verify(signature, message, receiptKey, { zip215: false });
  } catch {
    return false;
  }
}
