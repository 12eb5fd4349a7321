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

/** Nodes of one level by position. Nodes over nothing but zeros are left out. */
type Level = Map<number, bigint>;

/** A chunk of the tree. */
interface OpenChunk {
  readonly bitmap: Uint8Array;
  /** Its root; undefined until it is hashed after a change. */
  root: bigint | undefined;
  /** Its nodes from the leaves to the root, as of the last hashing; undefined if it was not hashed. */
  levels: Level[] | undefined;
  /** Leaves whose bits changed since; empty if it was not hashed. */
  changed: Set<number>;
}

const openChunk = (bitmap: Uint8Array, root?: bigint): OpenChunk => ({
  ...{ bitmap, root },
  levels: undefined,
  changed: new Set(),
});

/**
 * The tree of a set: the shape and the hash of the pool's tree, with the leaves of the set at their places and 0 at all others.
 * A chunk's bits change at once. Its root is hashed when it is needed, and only above the leaves that changed.
 */
export class MaskTree {
  readonly #leafAt: LeafAt;
  readonly #permutation: PermuteMany;
  #chunks: OpenChunk[] = [];

  /**
   * An empty set.
   * @param leafAt reads the pool's leaves; asked only for leaves of the set. One that changes must have left the set in between
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
    if (chunk.levels !== undefined) chunk.changed.add(leaf % CHUNK_LEAVES);
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
    const from = leaves - chunk * CHUNK_LEAVES;
    const isBeyond = ({ bitmap }: OpenChunk, first: number): boolean => membersOf(bitmap).some((leaf) => leaf >= first);
    if (!this.#chunks.slice(chunk).some((open, i) => isBeyond(open, i === 0 ? from : 0))) return this;
    const tree = new MaskTree(this.#leafAt, this.#permutation);
    tree.#chunks = this.#chunks
      .slice(0, chunk)
      .map(({ bitmap }, index) => openChunk(bitmap.slice(), this.chunkRoot(index)));
    const levels = this.#levels(chunk).map((level) => new Map(level));
    tree.#chunks.push({ ...openChunk(this.#chunk(chunk).bitmap.slice()), levels });
    tree.truncate(leaves);
    return tree;
  }

  /**
   * Replaces the bits of a chunk.
   * @param root the chunk's root if it is known; it is taken as right until the chunk is hashed
   */
  replace(index: number, bitmap: Uint8Array, root?: bigint): void {
    const chunk = this.#chunk(index);
    for (let byte = 0; chunk.levels !== undefined && byte < CHUNK_BYTES; byte += 1)
      for (let rest = bitmap[byte]! ^ chunk.bitmap[byte]!; rest !== 0; rest &= rest - 1)
        chunk.changed.add(8 * byte + 31 - Math.clz32(rest & -rest));
    chunk.bitmap.set(bitmap);
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
    chunk.root ??= this.#levels(index).at(-1)!.get(0) ?? emptyRoots()[CHUNK_LEVELS]!;
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
    const below = this.#levels(chunk);
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
    while (this.#chunks.length <= index) this.#chunks.push(openChunk(new Uint8Array(CHUNK_BYTES)));
    return this.#chunks[index]!;
  }

  /** The nodes of a chunk. If one cannot be hashed, all of them are hashed the next time. */
  #levels(index: number): readonly Level[] {
    const chunk = this.#chunks[index];
    const empty = (): Level[] => Array.from({ length: CHUNK_LEVELS + 1 }, () => new Map());
    if (chunk === undefined) return empty();
    const { bitmap, changed } = chunk;
    const levels = chunk.levels ?? empty();
    const touched = chunk.levels === undefined ? membersOf(bitmap) : [...changed];
    chunk.levels = undefined;
    for (const leaf of touched)
      if (hasBit(bitmap, leaf)) levels[0]!.set(leaf, this.#leafAt(index * CHUNK_LEAVES + leaf));
      else levels[0]!.delete(leaf);
    hashAbove(levels, touched, 0, this.#permutation);
    changed.clear();
    chunk.levels = levels;
    return levels;
  }
}

/** The leaves of a chunk whose bits are set. */
const membersOf = (bitmap: Uint8Array): number[] =>
  Array.from({ length: 8 * bitmap.length }, (_, leaf) => leaf).filter((leaf) => hasBit(bitmap, leaf));

/** The root of a tree whose chunks have these roots. The rest of the tree is empty. */
export const rootOfChunks = (roots: readonly bigint[], permutation: PermuteMany = permuteMany): bigint =>
  levelsAbove(roots, permutation).at(-1)!.get(0) ?? emptyRoots()[TREE_DEPTH]!;

function levelsAbove(roots: readonly bigint[], permutation: PermuteMany): Level[] {
  const levels: Level[] = Array.from({ length: TREE_DEPTH - CHUNK_LEVELS + 1 }, () => new Map());
  levels[0] = new Map(roots.entries());
  hashAbove(levels, [...roots.keys()], CHUNK_LEVELS, permutation);
  return levels;
}

/**
 * Hashes the nodes above some nodes that changed.
 * @param levels from the level of these nodes up
 * @param bottom height of that level in the tree
 */
function hashAbove(
  levels: readonly Level[],
  touched: readonly number[],
  bottom: number,
  permutation: PermuteMany,
): void {
  let positions = touched;
  for (const [i, level] of levels.slice(1).entries()) {
    const below = levels[i]!;
    const empty = emptyRoots()[bottom + i]!;
    const parents = [...new Set(positions.map((position) => Math.floor(position / TREE_ARITY)))];
    const children = Array.from({ length: TREE_ARITY }, (_, child) => child);
    const isOverZeros = (parent: number) => children.every((child) => !below.has(parent * TREE_ARITY + child));
    for (const parent of parents.filter(isOverZeros)) level.delete(parent);
    const full = parents.filter((parent) => !isOverZeros(parent));
    const nodes = full.map((parent) => children.map((child) => below.get(parent * TREE_ARITY + child) ?? empty));
    for (const [j, hash] of compressMany(nodes, permutation).entries()) level.set(full[j]!, hash);
    positions = parents;
  }
}
