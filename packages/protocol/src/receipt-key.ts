import { ed25519 } from "@noble/curves/ed25519.js";
import { hmac } from "@noble/hashes/hmac.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { isBytes } from "./bytes.ts";
import { describe, fail } from "./errors.ts";
import { FIELD_MODULUS } from "./field.ts";
import { bigIntToBytes, bytesToBigInt, concatBytes } from "./hex.ts";
import { assertField } from "./validate.ts";

function assertKey(key: unknown, name: string): Uint8Array {
  if (!isBytes(key) || key.length !== 32) fail("INVALID_KEY", `${name} must be 32 bytes`);
  return key;
}

function assertMessage(message: unknown): Uint8Array {
  if (!isBytes(message)) fail("INVALID_ARGUMENT", `a message must be a Uint8Array, got ${describe(message)}`);
  return message;
}

const DOMAIN = utf8ToBytes("sotto/v1/receipt-key");

/**
 * The private receipt key of one attempt at a payment, an Ed25519 seed: HMAC-SHA512 of nf and R.x under a wallet secret.
 * r is fresh for each attempt, so the key is too, and reveals nothing about the keys of other payments. The wallet
 * derives the key again to make a receipt.
 * @param nonceKey 32 bytes
 */
export function receiptSecret(nonceKey: Uint8Array, nf: bigint, ephemeralX: bigint): Uint8Array {
  assertKey(nonceKey, "nonceKey");
  const words = [assertField(nf, "nullifier"), assertField(ephemeralX, "R.x")].map((word) => bigIntToBytes(word, 32));
  return hmac(sha512, nonceKey, concatBytes(...words)).slice(0, 32);
}

/**
 * The public key of a private receipt key, 32 bytes. Like the nonce, it stays secret until its owner presents a
 * receipt.
 */
export function receiptKeyOf(secret: Uint8Array): Uint8Array {
  return ed25519.getPublicKey(assertKey(secret, "the receipt secret"));
}

/**
 * The nonce of a sender commitment: the hash of a public key. To prove later that it paid, the payer opens the
 * commitment and signs the verifier's challenge. A copy of the opening alone is not enough to sign. The 64 bytes of
 * SHA-512 are reduced mod p, so the nonce is uniform up to 2^-256.
 * @param receiptKey 32 bytes
 */
export function nonceOfReceiptKey(receiptKey: Uint8Array): bigint {
  return bytesToBigInt(sha512(concatBytes(DOMAIN, assertKey(receiptKey, "a receipt key")))) % FIELD_MODULUS;
}

/** The Ed25519 signature (64 bytes) of a receipt key. */
export function signWithReceiptKey(message: Uint8Array, secret: Uint8Array): Uint8Array {
  return ed25519.sign(assertMessage(message), assertKey(secret, "the receipt secret"));
}

/** Strict verification (RFC 8032, no cofactor): returns false if the signature or the key does not decode. */
export function verifyReceiptSignature(signature: Uint8Array, message: Uint8Array, receiptKey: Uint8Array): boolean {
  assertKey(receiptKey, "a receipt key");
  assertMessage(message);
  try {
    return ed25519.verify(signature, message, receiptKey, { zip215: false });
  } catch {
    return false;
  }
}
