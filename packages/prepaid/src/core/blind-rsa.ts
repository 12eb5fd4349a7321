import { sha384 } from "@noble/hashes/sha2.js";
import { isBytes } from "@sotto/protocol";
import { bigIntToBytes, bytesToBigInt, concatBytes, describe, fail } from "@sotto/protocol/extend";
import { inverses } from "./inverse.ts";
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

/** A message with its blind. */
export interface BlindInput {
  /** The encoded message, see `encodePss`. */
  readonly encoded: bigint;
  /** The blind r, in [1, n). Secret: with it, the signer could recognise the token. */
  readonly blind: bigint;
}

/** Messages that one key signs blind. */
export class BlindMessages {
  readonly #inputs: readonly BlindInput[];
  readonly #modulus: bigint;
  /** Of the blinds. */
  readonly #inverses: readonly bigint[];

  /**
   * @param modulus n of a checked prepaid key
   * @throws SottoError INVALID_SCALAR for a blind that is not from 1 to n - 1; INVALID_KEY if a message or a blind is not
   *   invertible mod n
   */
  constructor(inputs: readonly BlindInput[], modulus: bigint) {
    const blinds = inputs.map(({ blind }) => blind);
    for (const blind of blinds)
      if (blind <= 0n || blind >= modulus) fail("INVALID_SCALAR", "a blind must be from 1 to n - 1");
    // RFC 9474 requires that the messages are invertible too: blinding does not hide one that shares a factor with n.
    const product = inputs.reduce((all, { encoded }) => (all * encoded) % modulus, 1n);
    this.#inverses = inverses([...blinds, product], modulus).slice(0, -1);
    this.#inputs = inputs;
    this.#modulus = modulus;
  }

  /**
   * Blind of RFC 9474, section 4.2: encoded · r^e mod n, for each message.
   * @returns the blinded messages, concatenated: 256 bytes each, the size of the modulus
   */
  blind(): Uint8Array {
    const n = this.#modulus;
    return concatBytes(
      ...this.#inputs.map(({ encoded, blind }) => bigIntToBytes((encoded * raiseToExponent(blind, n)) % n, sizeOf(n))),
    );
  }

  /**
   * Finalize of RFC 9474, section 4.4: unblinds and verifies each signature. One wrong signature invalidates the whole
   * batch, because the signer could use it to mark tokens.
   * @param signatures the signer's response, 256 bytes for each message
   * @returns the signatures, 256 bytes each
   * @throws SottoError INVALID_SIGNATURE if the response has another length or a signature is wrong
   */
  finalize(signatures: Uint8Array): readonly Uint8Array[] {
    const [inputs, modulus] = [this.#inputs, this.#modulus];
    const size = sizeOf(modulus);
    if (!isBytes(signatures) || signatures.length !== inputs.length * size)
      fail("INVALID_SIGNATURE", `${inputs.length} signatures were expected, got ${describe(signatures)}`);
    return inputs.map(({ encoded }, i) => {
      const blindSignature = bytesToBigInt(signatures.subarray(i * size, (i + 1) * size));
      const signature = (blindSignature * this.#inverses[i]!) % modulus;
      // The salt is known here, so comparing the encodings is a complete verification.
      if (blindSignature >= modulus || raiseToExponent(signature, modulus) !== encoded)
        fail("INVALID_SIGNATURE", `signature ${i + 1} of ${inputs.length} is not the key's`, { index: i });
      return bigIntToBytes(signature, size);
    });
  }
}
