// The header with which a payer shows origins to the one who asks.
import { FIELD_MODULUS } from "@sotto/protocol";
import {
  bigIntToBytes,
  bytesToBigInt,
  concatBytes,
  decodeBase64url,
  encodeBase64url,
  fail,
} from "@sotto/protocol/extend";
import { type OriginClaim, PROOF_WORDS, parseProof } from "./claim.ts";

/** Request header with one to MAX_SHOWN_ORIGINS origins, separated by commas. */
export const ORIGIN_HEADER = "X-Payment-Origin";

/** Maximum number of origins in one header. */
export const MAX_SHOWN_ORIGINS = 4;

const BYTES = 32 * (1 + PROOF_WORDS);
const LENGTH = (BYTES * 4) / 3;

/** Maximum length of the header's value, characters: with a space after each comma, as proxies write them. */
export const MAX_ORIGIN_HEADER_LENGTH = MAX_SHOWN_ORIGINS * (LENGTH + 2) - 2;

/** An origin as it is shown for a payment, whose nullifier is that of the payment. */
export type ShownOrigin = Omit<OriginClaim, "nullifier">;

/**
 * The header's value: for each origin, base64url of the root and the eight words of the proof, 32 bytes each. Sets with one root need
 * one proof.
 */
export const encodeOriginHeader = (origins: readonly ShownOrigin[]): string =>
  [...new Map(origins.map((origin) => [origin.maskRoot, origin])).values()]
    .map(({ maskRoot, proof }) =>
      encodeBase64url(concatBytes(...[maskRoot, ...proof.map(BigInt)].map((word) => bigIntToBytes(word, 32)))),
    )
    .join(",");

/** Inverse of `encodeOriginHeader`. Does not check the proofs. @throws SottoError INVALID_ARGUMENT, INVALID_FIELD_ELEMENT */
export function decodeOriginHeader(value: string): ShownOrigin[] {
  if (value.length > MAX_ORIGIN_HEADER_LENGTH)
    fail(
      "INVALID_ARGUMENT",
      `${ORIGIN_HEADER} has at most ${MAX_ORIGIN_HEADER_LENGTH} characters, got ${value.length}`,
    );
  const origins = value.split(",").map((item) => {
    // Proxies may join headers with spaces.
    const text = item.trim();
    const bytes = decodeBase64url(text, BYTES, "an origin");
    const words = Array.from({ length: 1 + PROOF_WORDS }, (_, i) => bytesToBigInt(bytes.subarray(32 * i, 32 * i + 32)));
    const [maskRoot, ...proof] = words;
    if (maskRoot! >= FIELD_MODULUS) fail("INVALID_ARGUMENT", "the mask root of an origin is not below p");
    return { maskRoot: maskRoot!, proof: parseProof(proof.map(String)) };
  });
  if (new Set(origins.map(({ maskRoot }) => maskRoot)).size !== origins.length)
    fail("INVALID_ARGUMENT", `${ORIGIN_HEADER} has two origins for one mask root`);
  return origins;
}
