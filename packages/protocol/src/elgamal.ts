import { addPoints, assertSubgroupPoint, BASE8, multiplyPoint, type Point } from "./curve/babyjub.ts";
import { packPoint, unpackPoint } from "./curve/codec.ts";
import { fail } from "./errors.ts";
import { hexToBytes } from "./hex.ts";
import { randomBits } from "./random.ts";
import { assertAmount } from "./validate.ts";

/** Size of an encryption's random scalar b, bits. */
export const SCALAR_BITS = 249;

/** Lifted ElGamal: R = r Base8, C = r PK + amount Base8. Additively homomorphic. */
export interface Ciphertext {
  /** r Base8, in the prime-order subgroup. */
  readonly R: Point;
  /** S + amount Base8, in the prime-order subgroup. */
  readonly C: Point;
}

/** A ciphertext with the shared point S = r PK, which only sender and recipient know. */
export interface Encryption extends Ciphertext {
  /** r PK. It reveals the amount and opens the note, so it must stay secret. */
  readonly S: Point;
}

/**
 * A fresh b, uniform in [0, 2^249). Never reuse b: if two ciphertexts have the same r, the amount of one reveals the
 * amount of the other.
 */
export function randomScalar(): bigint {
  return randomBits(SCALAR_BITS);
}

/** @throws SottoError INVALID_SCALAR if b is not in [0, 2^249) */
function assertScalar(scalar: unknown): bigint {
  if (typeof scalar !== "bigint" || scalar < 0n || scalar >> BigInt(SCALAR_BITS) !== 0n)
    fail("INVALID_SCALAR", `scalar must be a bigint from 0 to 2^${SCALAR_BITS} - 1`);
  return scalar;
}

/**
 * r = 2 b + 2^249 + 1, the circuits' scalar multiplier. Their double-and-add starts at 2 P, so that none of its
 * incomplete additions hits an exceptional case; r < 3 * 2^249 < l.
 */
export function exponentOf(scalar: bigint): bigint {
  return 2n * assertScalar(scalar) + (1n << BigInt(SCALAR_BITS)) + 1n;
}

/**
 * Encrypts `amount` (base units, below 2^64) to a public key with the random scalar b.
 * @throws SottoError INVALID_POINT, INVALID_AMOUNT, INVALID_SCALAR
 */
export function encryptAmount(publicKey: Point, amount: bigint, scalar: bigint): Encryption {
  assertSubgroupPoint(publicKey, "publicKey");
  const message = multiplyPoint(BASE8, assertAmount(amount));
  const exponent = exponentOf(scalar);
  const S = multiplyPoint(publicKey, exponent);
  return { R: multiplyPoint(BASE8, exponent), C: addPoints(S, message), S };
}

/** The wire's `encryptedAmount`: pack(R) then pack(C), 64 bytes as hex with 0x. */
export function packCiphertext(ciphertext: Ciphertext): string {
  const { R, C } = Object(ciphertext) as Ciphertext;
  return packPoint(R) + packPoint(C).slice(2);
}

/** Strict inverse of `packCiphertext`. @throws SottoError INVALID_HEX, INVALID_POINT */
export function unpackCiphertext(hex: string): Ciphertext {
  hexToBytes(hex, 64, "encryptedAmount");
  return { R: unpackPoint(hex.slice(0, 66), "R"), C: unpackPoint(`0x${hex.slice(66)}`, "C") };
}
