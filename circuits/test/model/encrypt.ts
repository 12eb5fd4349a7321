import { add, BASE8, multiply, ORDER, type Point } from "@sotto/certify/check/curve";
import { DOMAIN, poseidonEx } from "./hash.ts";

export interface Encryption {
  R: Point;
  S: Point;
  C: Point;
  /** Blinding of the recipient's note and pad of the amount hint. */
  blinding: bigint;
  pad: bigint;
}

/** The encryption scalar for a witness of 249 bits. It is odd and in [2^249 + 1, 3 * 2^249 - 1]. */
export const ephemeralScalar = (scalar: bigint): bigint => 2n * scalar + 2n ** 249n + 1n;

/** Encrypts `amount` for `key` with lifted ElGamal and derives the secrets of the note. */
export function encrypt(key: Point, amount: bigint, scalar: bigint): Encryption {
  const r = ephemeralScalar(scalar);
  const R = multiply(BASE8, r);
  const S = multiply(key, r);
  const C = add(S, multiply(BASE8, amount % ORDER));
  const [blinding, pad] = poseidonEx([S.x, R.x], 2, DOMAIN.encryption) as [bigint, bigint];
  return { R, S, C, blinding, pad };
}
