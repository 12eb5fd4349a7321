import { hkdf } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, fail, ProtocolError } from "./errors.ts";
import { bytesToBigInt, hexToBytes } from "./hex.ts";

/** Order of secp256k1. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/**
 * The EIP-712 message whose signature can be used as a seed. It names no chain and no contract, so that an account has
 * the same seed everywhere. Any website can ask for this signature, and could then control the wallet: an application
 * that offers this kind of seed must warn its users. The default is a seed from words.
 */
export const SEED_TYPED_DATA = {
  domain: { name: "sotto", version: "1" },
  primaryType: "SottoSeed",
  types: { SottoSeed: [{ name: "warning", type: "string" }] },
  message: {
    warning:
      "This signature IS the key of your private wallet. Whoever gets it can spend all your private funds and read " +
      "all your private payments. Sign only in a wallet application that you trust with that.",
  },
} as const;

/**
 * Derives the 32-byte seed from a 65-byte signature of SEED_TYPED_DATA by an externally owned account. Request the
 * signature twice and compare the two: an account whose signatures differ each time (a multisig, some hardware wallets)
 * could not restore its wallet.
 *
 * Only r and s are used, because wallets disagree on v (0 or 27). A high s is refused, because (r, s) and (r, n - s)
 * would give different seeds.
 * @param signature 65 bytes as hex with 0x
 * @throws SottoError INVALID_SIGNATURE
 */
export function seedFromSignature(signature: string): Uint8Array {
  let bytes: Uint8Array;
  try {
    bytes = hexToBytes(typeof signature === "string" ? signature.toLowerCase() : signature, 65);
  } catch (cause) {
    const message = `a signature must be 65 bytes as hex with 0x, got ${describe(signature)}`;
    throw new ProtocolError("INVALID_SIGNATURE", message, {}, { cause });
  }
  const r = bytesToBigInt(bytes.subarray(0, 32));
  const s = bytesToBigInt(bytes.subarray(32, 64));
  if (r === 0n || r >= ORDER || s === 0n) fail("INVALID_SIGNATURE", "r and s must be from 1 to the curve's order - 1");
  if (s > ORDER / 2n) fail("INVALID_SIGNATURE", "s must be in the lower half of the curve's order (EIP-2)");
  if (![0, 1, 27, 28].includes(bytes[64]!)) fail("INVALID_SIGNATURE", "v must be 0, 1, 27 or 28");
  const info = utf8ToBytes("sotto/v1/seed-from-signature");
  return hkdf(sha256, bytes.subarray(0, 64), undefined, info, 32);
}
