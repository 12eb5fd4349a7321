import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { type Bytes32, bytesToHex, hexToBytes } from "@sotto/protocol";
import { assertObject, concatBytes, fail } from "@sotto/protocol/extend";
import {
  assertSecret,
  ED25519_KEY_BYTES,
  ED25519_SIGNATURE_BYTES,
  publicKeyOf,
  signEd25519,
  verifyOwnEd25519,
} from "../ed25519.ts";
import { prepaidChallengeDigest } from "../token.ts";
import { nonceOfTokenKey } from "../token-key.ts";

const CLAIM = utf8ToBytes("sotto/v1/change-claim");
const TOKEN_ID = utf8ToBytes("sotto/v1/prepaid-token-id");

/** What identifies a token: the fields of a `PrepaidToken` that are neither signature nor challenge. */
export interface TokenName {
  /** The id of the key that signed the token, 32 bytes as hex with 0x. */
  readonly keyId: string;
  /** The token's nonce, 32 bytes as hex with 0x. */
  readonly nonce: string;
}

function nameBytes(token: TokenName): Uint8Array {
  assertObject(token, "a token");
  return concatBytes(hexToBytes(token.keyId, 32, "keyId"), hexToBytes(token.nonce, 32, "nonce"));
}

/**
 * The hash by which receipts name a token: SHA-256 of "sotto/v1/prepaid-token-id", key id and nonce. The nonce cannot be
 * computed from it, so a receipt does not show the token.
 * @returns 32 bytes, hex with 0x
 * @throws SottoError INVALID_ARGUMENT, INVALID_HEX
 */
export const tokenIdHash = (token: TokenName): Bytes32 => bytesToHex(sha256(concatBytes(TOKEN_ID, nameBytes(token))));

/** What a payer signs to claim the change of a token, or to ask what was charged. */
export interface ChangeClaim {
  /** Origin at which the token was spent, such as "https://data.example". */
  readonly origin: string;
  /** The token that was spent. */
  readonly token: TokenName;
  /** SHA-256 of the blinded messages, 32 bytes as hex with 0x; left out to ask what was charged. */
  readonly batch?: string | undefined;
}

/** Shows that a claim is the payer's. */
export interface ChangeClaimProof {
  /** The token's public key, 32 bytes as hex with 0x. */
  readonly publicKey: string;
  /** The signature of `changeClaimMessage` by the token's key, 64 bytes as hex with 0x. */
  readonly signature: string;
}

/**
 * The bytes that the token's key signs: "sotto/v1/change-claim", the length of the origin in two bytes, the origin, key id and
 * nonce of the token, a byte that is 1 if a batch follows and otherwise 0, and the batch.
 * @throws SottoError INVALID_ARGUMENT, INVALID_STRING, INVALID_HEX
 */
export function changeClaimMessage(claim: ChangeClaim): Uint8Array {
  assertObject(claim, "a claim");
  const { origin, token, batch } = claim;
  prepaidChallengeDigest(origin);
  const text = utf8ToBytes(origin);
  return concatBytes(
    CLAIM,
    Uint8Array.of(text.length >> 8, text.length & 255),
    text,
    nameBytes(token),
    Uint8Array.of(batch === undefined ? 0 : 1),
    batch === undefined ? new Uint8Array(0) : hexToBytes(batch, 32, "batch"),
  );
}

/**
 * Signs a claim with the token's secret.
 * @param tokenSecret see `tokenSecretOf`
 * @throws SottoError INVALID_ARGUMENT, INVALID_STRING, INVALID_HEX; INVALID_KEY if the secret is another token's
 */
export function signChangeClaim(claim: ChangeClaim, tokenSecret: Uint8Array): ChangeClaimProof {
  const message = changeClaimMessage(claim);
  const publicKey = publicKeyOf(assertSecret(tokenSecret, "the secret of a token"));
  if (nonceOfTokenKey(publicKey) !== claim.token.nonce)
    fail("INVALID_KEY", "the secret does not belong to the claim's token");
  return {
    publicKey: bytesToHex(publicKey),
    signature: bytesToHex(signEd25519(message, tokenSecret)),
  };
}

/**
 * Whether a claim is signed with the key whose hash is the token's nonce. The verification is strict, see `verifyOwnEd25519`.
 * @throws SottoError INVALID_ARGUMENT, INVALID_STRING, INVALID_HEX if a value is malformed
 */
export function verifyChangeClaim(claim: ChangeClaim, proof: ChangeClaimProof): boolean {
  const message = changeClaimMessage(claim);
  assertObject(proof, "the proof of a claim");
  const publicKey = hexToBytes(proof.publicKey, ED25519_KEY_BYTES, "publicKey");
  const signature = hexToBytes(proof.signature, ED25519_SIGNATURE_BYTES, "signature");
  return nonceOfTokenKey(publicKey) === claim.token.nonce && verifyOwnEd25519(signature, message, publicKey);
}
