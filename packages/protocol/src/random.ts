import { randomBytes } from "@noble/hashes/utils.js";
import { FIELD_MODULUS } from "./field.ts";
import { bytesToBigInt } from "./hex.ts";

/** A uniform number in [0, 2^bits), from the platform's cryptographic generator (crypto.getRandomValues). */
export function randomBits(bits: number): bigint {
  const bytes = Math.ceil(bits / 8);
  return bytesToBigInt(randomBytes(bytes)) >> BigInt(8 * bytes - bits);
}

/** A random field element: 48 random bytes mod p, uniform up to 2^-130. */
export function randomField(): bigint {
  return randomBits(384) % FIELD_MODULUS;
}
