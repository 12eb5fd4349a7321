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
  const covered = mask.upTo(facts.leaves);
  const chunks = covered.chunks(facts.leaves);
  const manifest = encodeManifest(chunks);
  const hash: Bytes32 = sha256Hex(manifest);
  const head: OriginHead = {
    ...facts,
    number: previous === undefined ? 0 : previous.number + 1,
    previous: previous === undefined ? ZERO_BYTES : headDigest(previous),
    maskRoot: covered.root,
    manifest: hash,
  };
  const files = new Map([[manifestPath(hash), manifest]]);
  for (const { bitmap } of chunks) files.set(bitmapPath(sha256Hex(bitmap)), bitmap);
  return { signed: signHead(head, secret), files };
}
