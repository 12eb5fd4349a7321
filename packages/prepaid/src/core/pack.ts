import { expand } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, hexToBytes } from "@sotto/protocol";
import { assertInteger, assertText, bytesToBigInt } from "@sotto/protocol/extend";
import { type BlindInput, BlindMessages, encodePss, PSS_SALT_BYTES } from "./blind-rsa.ts";
import { assertSecret } from "./ed25519.ts";
import { PREPAID_KEY_BYTES, type PrepaidKey } from "./key.ts";
import { PREPAID_NONCE_BYTES, type PrepaidToken, prepaidChallengeDigest, prepaidTokenInput } from "./token.ts";
import { nonceOfTokenSecret, tokenSecretInfo } from "./token-key.ts";

/** The sizes of a pack. There are few, so that a size reveals little about the payer. */
export const PREPAID_PACK_SIZES = [1, 100, 1000] as const;

const MAX_TOKENS = 1000;
const MAX_PACK_NUMBER = 2 ** 31 - 1;

/**
 * How the nonces of a pack are derived. Those of version 1 are random bytes. Those of version 2 are hashes of Ed25519 keys, with
 * which the payer claims change; nobody else can tell the versions apart.
 */
export type PrepaidPackVersion = 1 | 2;
/** 128 bits more than the modulus, so that a blind is uniform up to 2^-128. */
const BLIND_BYTES = PREPAID_KEY_BYTES + 16;

/** The unsigned tokens of a pack, with the values that the payer needs to finalize them. */
export interface PrepaidPack {
  /** The blinded messages, 256 bytes each: the body of the purchase. */
  readonly request: Uint8Array;
  /**
   * Checks the server's signatures and removes the blinds.
   * @param response 256 bytes for each token
   * @throws SottoError INVALID_SIGNATURE if any signature is wrong: then do not use any token of the pack
   */
  finish(response: Uint8Array): readonly PrepaidToken[];
}

/**
 * The label from which a wallet derives the secret of a pack.
 * @param origin where the tokens are spent, such as "https://data.example"
 * @param keyId the merchant's key, hex with 0x
 * @param number the number of the pack among those of this key, 0 to 2^31 - 1
 * @throws SottoError INVALID_STRING, INVALID_INTEGER, INVALID_HEX
 */
export function prepaidPackLabel(origin: string, keyId: string, number: number): string {
  assertInteger(number, 0, MAX_PACK_NUMBER, "number");
  hexToBytes(keyId, 32, "keyId");
  return `prepaid/${keyId}/${number}/${assertText(origin, "origin")}`;
}

/**
 * The tokens of a pack. Nonces, salts and blinds are derived from the pack's secret, so that a wallet restored from its
 * words can repeat the same request and get the same tokens.
 * @param secret 32 bytes, derived with {@link prepaidPackLabel}
 * @param key the merchant's key for the value and the epoch
 * @param origin at which the tokens are spent, such as "https://data.example"
 * @param count how many tokens, 1 to 1000
 * @param first index of the first token, to prepare a pack in parts: it is their concatenation
 * @param version how the nonces are derived: 2 for tokens that metered routes accept, see `tokenSecretOf`
 * @throws SottoError INVALID_STRING, INVALID_INTEGER, INVALID_KEY
 */
export function preparePrepaidPack(
  secret: Uint8Array,
  key: PrepaidKey,
  origin: string,
  count: number,
  first = 0,
  version: PrepaidPackVersion = 1,
): PrepaidPack {
  assertSecret(secret, "the secret of a pack");
  assertInteger(count, 1, MAX_TOKENS, "count");
  assertInteger(first, 0, MAX_TOKENS - count, "first");
  assertInteger(version, 1, 2, "version");
  const challengeDigest = prepaidChallengeDigest(origin);
  const tokens: Omit<PrepaidToken, "signature">[] = [];
  const inputs: BlindInput[] = [];
  for (let i = first; i < first + count; i++) {
    const bytes = expand(
      sha256,
      secret,
      version === 1 ? Uint8Array.of(i >> 8, i & 255) : tokenSecretInfo(i),
      PREPAID_NONCE_BYTES + PSS_SALT_BYTES + BLIND_BYTES,
    );
    const start = bytes.subarray(0, PREPAID_NONCE_BYTES);
    const nonce = version === 1 ? bytesToHex(start) : nonceOfTokenSecret(start);
    const salt = bytes.subarray(PREPAID_NONCE_BYTES, PREPAID_NONCE_BYTES + PSS_SALT_BYTES);
    const blind = (bytesToBigInt(bytes.subarray(PREPAID_NONCE_BYTES + PSS_SALT_BYTES)) % (key.modulus - 1n)) + 1n;
    const token = { nonce, challengeDigest, keyId: key.id };
    tokens.push(token);
    inputs.push({ encoded: encodePss(prepaidTokenInput(token), salt, key.modulus), blind });
  }
  const messages = new BlindMessages(inputs, key.modulus);
  return {
    request: messages.blind(),
    finish: (response) => messages.finalize(response).map((signature, i) => ({ ...tokens[i]!, signature })),
  };
}
