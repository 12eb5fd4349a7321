import { sha256 } from "@noble/hashes/sha2.js";

/** The digest of a body for a challenge: SHA-256 in the form of the header Content-Digest (RFC 9530). */
export const bodyDigest = (body: Uint8Array): string =>
  `sha-256=:${btoa(Array.from(sha256(body), (byte) => String.fromCharCode(byte)).join(""))}:`;
