// The manifest of a head: the root and the hash of each chunk. Its SHA-256 is in the signed head.
import { sha256 } from "@noble/hashes/sha2.js";
import { type Bytes32, bytesToHex, FIELD_MODULUS, type PermuteMany } from "@sotto/protocol";
import { bigIntToBytes, bytesToBigInt, concatBytes, fail } from "@sotto/protocol/extend";
import { chunksOf } from "./bitmap.ts";
import type { OriginHead } from "./head.ts";
import { type Chunk, rootOfChunks } from "./mask-tree.ts";

/** A chunk as a manifest lists it. */
export interface ListedChunk {
  /** Root over the chunk's leaves, a field element. */
  readonly root: bigint;
  /** SHA-256 of the chunk's bitmap: the name of its file. */
  readonly hash: Bytes32;
}

const ENTRY_BYTES = 64;

/** SHA-256 of some bytes, as 32 bytes of hex with 0x. */
export const sha256Hex = (bytes: Uint8Array): Bytes32 => bytesToHex(sha256(bytes));

/** Size of the manifest of a tree with this many leaves, bytes. */
export const manifestBytes = (leaves: number): number => ENTRY_BYTES * chunksOf(leaves);

/** The manifest of a tree's chunks: for each, 32 bytes of its root and 32 of its bitmap's hash. */
export const encodeManifest = (chunks: readonly Chunk[]): Uint8Array =>
  concatBytes(...chunks.flatMap(({ bitmap, root }) => [bigIntToBytes(root, 32), sha256(bitmap)]));

/**
 * Reads the manifest that a head names, and checks it against the head's mask root.
 * @throws SottoError INVALID_ARGUMENT
 */
export function decodeManifest(bytes: Uint8Array, head: OriginHead, permutation?: PermuteMany): ListedChunk[] {
  const size = manifestBytes(head.leaves);
  if (bytes.length !== size)
    fail("INVALID_ARGUMENT", `the manifest of ${head.leaves} leaves has ${size} bytes, got ${bytes.length}`);
  if (sha256Hex(bytes) !== head.manifest) fail("INVALID_ARGUMENT", "the manifest is not the one that the head names");
  const chunks = Array.from({ length: chunksOf(head.leaves) }, (_, i) => {
    const entry = bytes.subarray(i * ENTRY_BYTES, (i + 1) * ENTRY_BYTES);
    const root = bytesToBigInt(entry.subarray(0, 32));
    if (root >= FIELD_MODULUS) fail("INVALID_ARGUMENT", `the root of chunk ${i} is not below p`);
    return { root, hash: bytesToHex(entry.subarray(32)) };
  });
  const roots = chunks.map(({ root }) => root);
  if (rootOfChunks(roots, permutation) !== head.maskRoot)
    fail("INVALID_ARGUMENT", "the roots of the manifest's chunks do not lead to the head's mask root");
  return chunks;
}
