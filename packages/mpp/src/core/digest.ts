import { sha256 } from "@noble/hashes/sha2.js";

/** The digest of a body for a challenge: SHA-256 in the form of the header Content-Digest (RFC 9530). */
export const bodyDigest = (body: Uint8Array): string => bodyDigestOf(sha256(body));

/** @param hash SHA-256 of the body. Default: that of an empty body */
export const bodyDigestOf = (hash: Uint8Array = sha256(new Uint8Array(0))): string =>
  `sha-256=:${btoa(Array.from(hash, (byte) => String.fromCharCode(byte)).join(""))}:`;
