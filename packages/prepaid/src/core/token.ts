import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { bytesToHex, hexToBytes, isBytes } from "@sotto/protocol";
import { concatBytes, describe, fail, urlOf } from "@sotto/protocol/extend";
import { PREPAID_KEY_BYTES } from "./key.ts";

/** token_type of RFC 9578: blind RSA, 2,048 bits. */
const TOKEN_TYPE = Uint8Array.of(0x00, 0x02);
/** Size of a token's nonce, bytes. */
export const PREPAID_NONCE_BYTES = 32;
/** Where each part of an encoded token begins after its type, and where the token ends: offsets in bytes. */
export const PREPAID_TOKEN_LAYOUT = {
  /** 32 bytes. */
  nonce: 2,
  /** 32 bytes. */
  challengeDigest: 2 + PREPAID_NONCE_BYTES,
  /** 32 bytes. */
  keyId: 2 + PREPAID_NONCE_BYTES + 32,
  /** 256 bytes. It signs everything before it. */
  signature: 2 + PREPAID_NONCE_BYTES + 32 + 32,
  /** Size of a token. */
  end: 2 + PREPAID_NONCE_BYTES + 32 + 32 + PREPAID_KEY_BYTES,
} as const;
/** Size of an encoded token, bytes. */
export const PREPAID_TOKEN_BYTES = PREPAID_TOKEN_LAYOUT.end;

/** A prepaid token: the Token structure of RFC 9578, section 2.2, of type 0x0002. */
export interface PrepaidToken {
  /** 32 bytes, chosen by the payer, hex with 0x. A token is spent when its nonce is recorded. */
  readonly nonce: string;
  /** SHA-256 of the challenge, hex with 0x. */
  readonly challengeDigest: string;
  /** The key that signed, hex with 0x. */
  readonly keyId: string;
  /** The signature, 256 bytes. */
  readonly signature: Uint8Array;
}

const withLength = (bytes: Uint8Array): Uint8Array =>
  concatBytes(Uint8Array.of(bytes.length >> 8, bytes.length & 255), bytes);

/**
 * The digest of the TokenChallenge (RFC 9577, section 2.1) for an origin: the type is 2, issuer name and origin info
 * are the origin's host and port, and the redemption context is empty. Client and server each compute it, so the server
 * cannot use it to mark a payer.
 * @param origin an http(s) origin such as "https://data.example"
 * @returns 32 bytes, hex with 0x
 * @throws SottoError INVALID_STRING
 */
export function prepaidChallengeDigest(origin: string): string {
  const url = urlOf(origin);
  if (url === undefined || url.origin !== origin || !/^https?:$/.test(url.protocol))
    fail("INVALID_STRING", `an origin such as https://data.example was expected, got ${describe(origin)}`);
  const host = utf8ToBytes(origin.slice(origin.indexOf("//") + 2));
  const challenge = concatBytes(TOKEN_TYPE, withLength(host), Uint8Array.of(0), withLength(host));
  return bytesToHex(sha256(challenge));
}

/** The message that is signed: token_input of RFC 9578, section 6.1, 98 bytes. */
export function prepaidTokenInput({ nonce, challengeDigest, keyId }: Omit<PrepaidToken, "signature">): Uint8Array {
  return concatBytes(
    TOKEN_TYPE,
    hexToBytes(nonce, PREPAID_NONCE_BYTES, "nonce"),
    hexToBytes(challengeDigest, 32, "challengeDigest"),
    hexToBytes(keyId, 32, "keyId"),
  );
}

/** The wire form of a token, 354 bytes. @throws SottoError INVALID_HEX, INVALID_ARGUMENT */
export function encodePrepaidToken(token: PrepaidToken): Uint8Array {
  if (!isBytes(token.signature) || token.signature.length !== PREPAID_KEY_BYTES)
    fail(
      "INVALID_ARGUMENT",
      `a token's signature must be ${PREPAID_KEY_BYTES} bytes, got ${describe(token.signature)}`,
    );
  return concatBytes(prepaidTokenInput(token), token.signature);
}

/** Inverse of `encodePrepaidToken`. Does not check the signature. @throws SottoError INVALID_ARGUMENT */
export function decodePrepaidToken(bytes: unknown): PrepaidToken {
  if (!isBytes(bytes) || bytes.length !== PREPAID_TOKEN_BYTES)
    fail("INVALID_ARGUMENT", `a prepaid token must be ${PREPAID_TOKEN_BYTES} bytes, got ${describe(bytes)}`);
  if (TOKEN_TYPE.some((byte, i) => bytes[i] !== byte)) fail("INVALID_ARGUMENT", "a prepaid token must be of type 2");
  const part = (from: number, to: number) => bytesToHex(bytes.subarray(from, to));
  const { nonce, challengeDigest, keyId, signature } = PREPAID_TOKEN_LAYOUT;
  return {
    nonce: part(nonce, challengeDigest),
    challengeDigest: part(challengeDigest, keyId),
    keyId: part(keyId, signature),
    signature: bytes.slice(signature),
  };
}
