import { expand } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { type Bytes32, bytesToHex } from "@sotto/protocol";
import { assertInteger, concatBytes } from "@sotto/protocol/extend";
import { assertSecret, ED25519_KEY_BYTES, publicKeyOf } from "./ed25519.ts";

/** Index of the last token of a pack, see `preparePrepaidPack`. */
const MAX_INDEX = 999;
const DERIVATION = utf8ToBytes("sotto/v2/prepaid-token");

/** HKDF's info for a token of a pack of version 2. It is longer than that of version 1, so the two never give the same bytes. */
export const tokenSecretInfo = (index: number): Uint8Array =>
  concatBytes(DERIVATION, Uint8Array.of(index >> 8, index & 255));

/**
 * The secret of a token's Ed25519 key, in a pack of version 2. The wallet derives it again when it claims change.
 * @param secret of the pack, 32 bytes
 * @param index of the token in its pack, 0 to 999
 * @returns 32 bytes. Secret: with it, anyone who sees the token can claim its change
 * @throws SottoError INVALID_KEY, INVALID_INTEGER
 */
export function tokenSecretOf(secret: Uint8Array, index: number): Uint8Array {
  assertSecret(secret, "the secret of a pack");
  return expand(sha256, secret, tokenSecretInfo(assertInteger(index, 0, MAX_INDEX, "index")), ED25519_KEY_BYTES);
}

/** The nonce of a token whose public Ed25519 key this is: its SHA-256, hex with 0x. */
export const nonceOfTokenKey = (publicKey: Uint8Array): Bytes32 => bytesToHex(sha256(publicKey));

/** The nonce of the token with this secret. @throws SottoError INVALID_KEY */
export const nonceOfTokenSecret = (tokenSecret: Uint8Array): Bytes32 =>
  nonceOfTokenKey(publicKeyOf(assertSecret(tokenSecret, "the secret of a token")));
