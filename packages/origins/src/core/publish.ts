import type { Bytes32 } from "@sotto/protocol";
import { headDigest, type OriginHead, type SignedHead, signHead, ZERO_BYTES } from "./head.ts";
import { encodeManifest, sha256Hex } from "./manifest.ts";
import type { MaskTree } from "./mask-tree.ts";
import { bitmapPath, manifestPath } from "./publication.ts";

/** A new head, and the files that it names and that may be new. Publish the files before the head. */
export interface Publication {
  readonly signed: SignedHead;
  /** Manifest and bitmaps, by their paths. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** What a head publishes of a mask. */
export interface MaskFiles {
  /** Root of the mask tree over the leaves that the head covers. */
  readonly maskRoot: bigint;
  /** SHA-256 of the manifest. */
  readonly manifest: Bytes32;
  /** Manifest and bitmaps, by their paths. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** The manifest and the bitmaps of a head. @param leaves number of leaves that it covers */
export function maskFiles(mask: MaskTree, leaves: number): MaskFiles {
  const covered = mask.upTo(leaves);
  const chunks = covered.chunks(leaves);
  const bytes = encodeManifest(chunks);
  const manifest = sha256Hex(bytes);
  const files = new Map([[manifestPath(manifest), bytes]]);
  for (const { bitmap } of chunks) files.set(bitmapPath(sha256Hex(bitmap)), bitmap);
  return { maskRoot: covered.root, manifest, files };
}

/** What a new head says beside its mask. */
export type HeadFacts = Omit<OriginHead, "number" | "previous" | "maskRoot" | "manifest">;

/**
 * Signs the next head of a set.
 * @param mask may have leaves that wait for their append: the head covers those of the pool's tree
 * @param previous the newest head; undefined for the first
 * @param secret the curator's private key, 32 bytes
 * @throws SottoError INVALID_ARGUMENT
 */
export function nextHead(
  mask: MaskTree,
  facts: HeadFacts,
  previous: OriginHead | undefined,
  secret: Uint8Array,
): Publication {
  const { maskRoot, manifest, files } = maskFiles(mask, facts.leaves);
  const head: OriginHead = {
    ...facts,
    number: previous === undefined ? 0 : previous.number + 1,
    previous: previous === undefined ? ZERO_BYTES : headDigest(previous),
    maskRoot,
    manifest,
  };
  return { signed: signHead(head, secret), files };
}
