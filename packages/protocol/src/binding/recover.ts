import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import type { Bytes32 } from "../contexts.ts";
import type { Address } from "../ethereum-address.ts";
import { bytesToHex, hexToBytes } from "../hex.ts";

/** The parity of R.y for each v: some signatures have 0 or 1, others the older 27 or 28. */
const PARITY_OF_V: ReadonlyMap<number, 0 | 1> = new Map([
  [0, 0],
  [1, 1],
  [27, 0],
  [28, 1],
]);

/**
 * Splits a signature into r and s (64 bytes) and the parity of R.y: from v if it has 65 bytes, from the top bit of s if
 * it has 64 (EIP-2098).
 */
function split(signature: Uint8Array): { compact: Uint8Array; parity: 0 | 1 } | undefined {
  const compact = signature.slice(0, 64);
  if (signature.length === 65) {
    const parity = PARITY_OF_V.get(signature[64]!);
    return parity === undefined ? undefined : { compact, parity };
  }
  if (signature.length !== 64) return undefined;
  const parity = compact[32]! >> 7 === 1 ? 1 : 0;
  compact[32]! &= 0x7f;
  return { compact, parity };
}

/**
 * Recovers the account that signed the digest. Returns undefined if the signature is invalid: it is not 64 or 65 bytes,
 * r or s is out of range, s is high (anyone can derive the high s from the low one), or r is not the x of a point.
 */
export function recoverSigner(digest: Bytes32, signature: Uint8Array): Address | undefined {
  const parts = split(signature);
  if (parts === undefined) return undefined;
  try {
    const { compact, parity } = parts;
    const parsed = secp256k1.Signature.fromBytes(compact, "compact");
    if (parsed.hasHighS()) return undefined;
    const key = parsed.addRecoveryBit(parity).recoverPublicKey(hexToBytes(digest, 32)).toBytes(false);
    return `0x${bytesToHex(keccak_256(key.subarray(1))).slice(26)}`;
  } catch {
    // noble throws if r or s is 0 or too large, or if r is not the x of a point.
    return undefined;
  }
}
