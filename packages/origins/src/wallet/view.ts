import type { PermuteMany, TreePath } from "@sotto/protocol";
import { CHUNK_LEAVES, countShared } from "../core/bitmap.ts";
import type { SignedHead } from "../core/head.ts";
import type { ListedChunk } from "../core/manifest.ts";
import { type LeafAt, MaskTree } from "../core/mask-tree.ts";

/** A set at one of its heads, as the wallet took it. It never changes. */
export class SetView {
  readonly signed: SignedHead;
  readonly chunks: readonly ListedChunk[];
  readonly bitmaps: readonly Uint8Array[];
  readonly #tree: MaskTree;
  readonly #leafAt: LeafAt;
  readonly #permutation: PermuteMany | undefined;
  readonly #hashed: MaskTree;
  #members: number | undefined;

  /**
   * @param chunks those of the head's manifest, compared with its mask root
   * @param bitmaps their bitmaps, compared with the hashes of the chunks
   * @param hashed a tree in which the views of a set hash chunks, one after the other: only what changed is hashed again
   */
  constructor(
    signed: SignedHead,
    chunks: readonly ListedChunk[],
    bitmaps: readonly Uint8Array[],
    leafAt: LeafAt,
    permutation?: PermuteMany,
    hashed: MaskTree = new MaskTree(leafAt, permutation),
  ) {
    this.signed = signed;
    this.chunks = chunks;
    this.bitmaps = bitmaps;
    this.#leafAt = leafAt;
    this.#permutation = permutation;
    this.#hashed = hashed;
    this.#tree = new MaskTree(leafAt, permutation);
    for (const [i, { root }] of chunks.entries()) this.#tree.replace(i, bitmaps[i]!, root);
  }

  /** Whether the leaf is in the set. */
  has(leaf: number): boolean {
    return this.#tree.has(leaf);
  }

  /** Number of leaves in the set. */
  get members(): number {
    this.#members ??= this.bitmaps.reduce((total, bitmap) => total + countShared([bitmap]), 0);
    return this.#members;
  }

  /** The path of a leaf, which hashes its chunk. */
  path(leafIndex: number): TreePath {
    return this.#tree.path(leafIndex);
  }

  /** Whether the root that the manifest lists for a chunk is that of its bitmap and the pool's leaves. */
  isTrue(chunk: number): boolean {
    // After a reorganization, a leaf may be another one than when it was hashed: before a curator is convicted, all is hashed.
    return [this.#hashed, new MaskTree(this.#leafAt, this.#permutation)].some((tree) => {
      tree.replace(chunk, this.bitmaps[chunk]!);
      return tree.chunkRoot(chunk) === this.chunks[chunk]!.root;
    });
  }

  /** Number of leaves that an earlier view has and this one has not. */
  removedSince(earlier: SetView): number {
    return earlier.bitmaps.reduce((total, before, chunk) => {
      const now = this.bitmaps[chunk];
      return total + countShared([before]) - (now === undefined ? 0 : countShared([before, now]));
    }, 0);
  }
}

/** The chunk with a leaf. */
export const chunkOf = (leaf: number): number => Math.floor(leaf / CHUNK_LEAVES);

/** Number of leaves that are in all of these views. */
export function sharedBy(views: readonly SetView[]): number {
  const chunks = Math.min(...views.map(({ bitmaps }) => bitmaps.length));
  let total = 0;
  for (let i = 0; i < chunks; i += 1) total += countShared(views.map(({ bitmaps }) => bitmaps[i]!));
  return total;
}
