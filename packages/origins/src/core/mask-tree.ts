import { emptyRoots, type PermuteMany, TREE_ARITY, TREE_DEPTH, type TreePath } from "@sotto/protocol";
import { assertInteger, compressMany, permuteMany } from "@sotto/protocol/extend";
import { CHUNK_BYTES, CHUNK_LEAVES, CHUNK_LEVELS, chunksOf, hasBit, setBit } from "./bitmap.ts";

/**
 * The leaves of the pool's tree, by position.
 * @param index below the number of leaves
 */
export type LeafAt = (index: number) => bigint;

/** A chunk of a mask tree: its bits, and the root over its leaves. */
export interface Chunk {
  /** CHUNK_BYTES bytes. */
  readonly bitmap: Uint8Array;
  /** Root over the chunk's leaves, a field element. */
  readonly root: bigint;
}

/** A chunk of the tree, whose root is computed when it is asked for. */
interface OpenChunk {
  bitmap: Uint8Array;
  root: bigint | undefined;
}

/**
 * The tree of a set: the shape and the hash of the pool's tree, with the leaves of the set at their places and 0 at all others.
 * A chunk's bits change at once, and its root is hashed when it is needed.
 */
export class MaskTree {
  readonly #leafAt: LeafAt;
  readonly #permutation: PermuteMany;
  #chunks: OpenChunk[] = [];

  /**
   * An empty set.
   * @param leafAt reads the pool's leaves; asked only for leaves of the set
   * @param permutation a faster one of states of eight lanes; by default, that of @sotto/protocol
   */
  constructor(leafAt: LeafAt, permutation: PermuteMany = permuteMany) {
    this.#leafAt = leafAt;
    this.#permutation = permutation;
  }

  /** Whether the leaf is in the set. */
  has(leaf: number): boolean {
    const chunk = this.#chunks[Math.floor(leaf / CHUNK_LEAVES)];
    return chunk !== undefined && hasBit(chunk.bitmap, leaf % CHUNK_LEAVES);
  }

  /** Adds a leaf to the set, or removes it. @returns whether the set changed */
  set(leaf: number, value: boolean): boolean {
    if (this.has(leaf) === value) return false;
    const chunk = this.#chunk(Math.floor(leaf / CHUNK_LEAVES));
    setBit(chunk.bitmap, leaf % CHUNK_LEAVES, value);
    chunk.root = undefined;
    return true;
  }

  /** Forgets all leaves from this one on. */
  truncate(leaves: number): void {
    this.#chunks.length = Math.min(this.#chunks.length, chunksOf(leaves));
    const first = Math.floor(leaves / CHUNK_LEAVES) * CHUNK_LEAVES;
    for (let leaf = leaves; leaf < first + CHUNK_LEAVES; leaf += 1) this.set(leaf, false);
  }

  /** The tree of the leaves before this one: itself if it has no others. */
  upTo(leaves: number): MaskTree {
    const chunk = Math.floor(leaves / CHUNK_LEAVES);
    const beyond = (index: number): boolean =>
      this.#chunks[index]!.bitmap.some(
        (bits, byte) => bits >> Math.max(0, leaves - index * CHUNK_LEAVES - 8 * byte) !== 0,
      );
    if (!this.#chunks.some((_, index) => index >= chunk && beyond(index))) return this;
    const tree = new MaskTree(this.#leafAt, this.#permutation);
    tree.#chunks = this.#chunks.map((open) => ({ ...open }));
    const last = tree.#chunks[chunk];
    if (last !== undefined) last.bitmap = last.bitmap.slice();
    tree.truncate(leaves);
    return tree;
  }

  /**
   * Replaces a chunk.
   * @param root the chunk's root if it is known; it is taken as right
   */
  replace(index: number, bitmap: Uint8Array, root?: bigint): void {
    const chunk = this.#chunk(index);
    chunk.bitmap = bitmap.slice();
    chunk.root = root;
  }

  /** The chunks of a tree with this many leaves, in order. The bitmaps are copies. */
  chunks(leaves: number): Chunk[] {
    return Array.from({ length: chunksOf(leaves) }, (_, index) => ({
      bitmap: this.#chunks[index]?.bitmap.slice() ?? new Uint8Array(CHUNK_BYTES),
      root: this.chunkRoot(index),
    }));
  }

  /** The root over the leaves of a chunk. */
  chunkRoot(index: number): bigint {
    const chunk = this.#chunks[index];
    if (chunk === undefined) return emptyRoots()[CHUNK_LEVELS]!;
    chunk.root ??= this.#hashChunk(index).at(-1)!.get(0) ?? emptyRoots()[CHUNK_LEVELS]!;
    return chunk.root;
  }

  /** The root of the tree. */
  get root(): bigint {
    return rootOfChunks(this.#roots(), this.#permutation);
  }

  /**
   * The path of a leaf, in the form that the circuit takes; also of a leaf that is not in the set.
   * @throws SottoError INVALID_INTEGER
   */
  path(leafIndex: number): TreePath {
    assertInteger(leafIndex, 0, TREE_ARITY ** TREE_DEPTH - 1, "leafIndex");
    const chunk = Math.floor(leafIndex / CHUNK_LEAVES);
    const below = this.#hashChunk(chunk);
    const above = levelsAbove(this.#roots(), this.#permutation);
    const empty = emptyRoots();
    const pathChildren = Array.from({ length: TREE_DEPTH }, (_, level) => {
      const node = Math.floor(leafIndex / TREE_ARITY ** (level + 1));
      return Array.from({ length: TREE_ARITY }, (_, child) => {
        const position = node * TREE_ARITY + child;
        const nodes = level < CHUNK_LEVELS ? below[level]! : above[level - CHUNK_LEVELS]!;
        const start = level < CHUNK_LEVELS ? chunk * TREE_ARITY ** (CHUNK_LEVELS - level) : 0;
        return nodes.get(position - start) ?? empty[level]!;
      });
    });
    return { leafIndex, pathChildren };
  }

  #roots(): bigint[] {
    return this.#chunks.map((_, index) => this.chunkRoot(index));
  }

  #chunk(index: number): OpenChunk {
    while (this.#chunks.length <= index) this.#chunks.push({ bitmap: new Uint8Array(CHUNK_BYTES), root: undefined });
    return this.#chunks[index]!;
  }

  /** The nodes of a chunk by level, from its leaves to its root. Nodes over nothing but zeros are left out. */
  #hashChunk(index: number): Map<number, bigint>[] {
    const leaves = new Map<number, bigint>();
    const bitmap = this.#chunks[index]?.bitmap ?? new Uint8Array();
    for (const [byte, bits] of bitmap.entries())
      for (let bit = 0; bit < 8; bit += 1)
        if ((bits >> bit) & 1) leaves.set(8 * byte + bit, this.#leafAt(index * CHUNK_LEAVES + 8 * byte + bit));
    return hashLevels(leaves, 0, CHUNK_LEVELS, this.#permutation);
  }
}

/** The root of a tree whose chunks have these roots. The rest of the tree is empty. */
export const rootOfChunks = (roots: readonly bigint[], permutation: PermuteMany = permuteMany): bigint =>
  levelsAbove(roots, permutation).at(-1)!.get(0) ?? emptyRoots()[TREE_DEPTH]!;

const levelsAbove = (roots: readonly bigint[], permutation: PermuteMany): Map<number, bigint>[] =>
  hashLevels(new Map(roots.entries()), CHUNK_LEVELS, TREE_DEPTH, permutation);

/** The nodes of the levels from `bottom` to `top` above some nodes of the lowest of them. */
function hashLevels(
  nodes: ReadonlyMap<number, bigint>,
  bottom: number,
  top: number,
  permutation: PermuteMany,
): Map<number, bigint>[] {
  const levels = [new Map(nodes)];
  const empty = emptyRoots();
  for (let level = bottom; level < top; level += 1) {
    const below = levels.at(-1)!;
    const parents = [...new Set([...below.keys()].map((position) => Math.floor(position / TREE_ARITY)))];
    const children = parents.map((parent) =>
      Array.from({ length: TREE_ARITY }, (_, child) => below.get(parent * TREE_ARITY + child) ?? empty[level]!),
    );
    const hashes = compressMany(children, permutation);
    levels.push(new Map(parents.map((parent, i) => [parent, hashes[i]!])));
  }
  return levels;
}
