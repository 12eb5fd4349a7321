import { describe, fail } from "../errors.ts";
import { TREE_ARITY, TREE_CAPACITY, TREE_DEPTH } from "../generated/circuits.ts";
import { compressMany } from "../poseidon/hash.ts";
import { type PermuteMany, permuteMany } from "../poseidon/permutation.ts";
import { assertField, assertInteger } from "../validate.ts";
import { emptyRoots } from "./shape.ts";
import { decodeLevels, encodeLevels } from "./state.ts";

/** The witness of one membership proof. */
export interface TreePath {
  /** Index of the leaf, 0 to 2^30 - 1. */
  readonly leafIndex: number;
  /** For each level, from the leaves up: all eight children of the node that the path goes through. */
  readonly pathChildren: readonly (readonly bigint[])[];
}

/**
 * The pool's tree of note commitments: arity 8, depth 10, append only (`truncate` undoes appends that a reorganization
 * of the chain reverted). It stores every node that is not an empty subtree, so a path is read, not computed. Do not
 * request a path from a server, which would learn which note is about to be spent.
 */
export class NoteTree {
  /** levels[0] are the leaves; a node beyond a level's length is an empty subtree. */
  #levels: bigint[][] = Array.from({ length: TREE_DEPTH + 1 }, () => []);

  constructor(leaves: readonly bigint[] = []) {
    this.append(leaves);
  }

  /** Restores a tree from the bytes of `serialize`, without hashing. @throws SottoError INVALID_TREE_STATE */
  static deserialize(bytes: Uint8Array): NoteTree {
    const tree = new NoteTree();
    tree.#levels = decodeLevels(bytes);
    return tree;
  }

  /** The whole tree in about 37 bytes per leaf, for a wallet's store. */
  serialize(): Uint8Array {
    return encodeLevels(this.#levels);
  }

  /** Number of leaves. */
  get size(): number {
    return this.#levels[0]!.length;
  }

  /** The root over all leaves. */
  get root(): bigint {
    return this.#levels[TREE_DEPTH]![0] ?? emptyRoots()[TREE_DEPTH]!;
  }

  /** The leaf at `index`. @throws SottoError LEAF_NOT_FOUND */
  leaf(index: number): bigint {
    assertInteger(index, 0, TREE_CAPACITY - 1, "index");
    const leaf = this.#levels[0]![index];
    if (leaf === undefined)
      fail("LEAF_NOT_FOUND", `the tree has ${this.size} leaves and none at index ${index}`, { index });
    return leaf;
  }

  /** All leaves in order, as a copy. */
  leaves(): bigint[] {
    return [...this.#levels[0]!];
  }

  /**
   * Appends one or more leaves; hashes each node above them once. If it throws, the tree is unchanged.
   * @param permutation a faster one of states of eight lanes; by default, this package's
   * @throws SottoError INVALID_LEAF if a leaf is 0, INVALID_FIELD_ELEMENT, TREE_FULL
   */
  append(leaves: bigint | readonly bigint[], permutation: PermuteMany = permuteMany): void {
    const batch = typeof leaves === "bigint" ? [leaves] : leaves;
    if (!Array.isArray(batch))
      fail("INVALID_LEAF", `append takes a bigint or an array of bigints, got ${describe(batch)}`);
    for (const leaf of batch) {
      if (assertField(leaf, "a leaf") === 0n) fail("INVALID_LEAF", "a leaf must not be 0: 0 is the empty leaf");
    }
    const start = this.size;
    if (start + batch.length > TREE_CAPACITY)
      fail("TREE_FULL", `the tree has room for ${TREE_CAPACITY - start} more leaves, but ${batch.length} were given`);
    for (const leaf of batch) this.#levels[0]!.push(leaf);
    if (batch.length === 0) return;
    try {
      this.#hashFrom(start, permutation);
    } catch (error) {
      this.truncate(start);
      throw error;
    }
  }

  /** The root after appending `leaves`; the tree stays unchanged. Throws like `append`. */
  rootAfter(leaves: bigint | readonly bigint[]): bigint {
    const size = this.size;
    this.append(leaves);
    const root = this.root;
    this.truncate(size);
    return root;
  }

  /** Keeps the first `size` leaves. @throws SottoError LEAF_NOT_FOUND if there are fewer */
  truncate(size: number): void {
    assertInteger(size, 0, TREE_CAPACITY, "size");
    if (size > this.size)
      fail("LEAF_NOT_FOUND", `cannot keep ${size} leaves, because the tree has ${this.size}`, { size });
    if (size === this.size) return;
    let length = size;
    for (const level of this.#levels) {
      level.length = length;
      length = Math.ceil(length / TREE_ARITY);
    }
    if (size > 0) this.#hashFrom(size - 1);
  }

  /**
   * The path of the leaf at `leafIndex`, in the form that the circuits take as input.
   * @throws SottoError LEAF_NOT_FOUND
   */
  path(leafIndex: number): TreePath {
    this.leaf(leafIndex);
    return { leafIndex, pathChildren: this.slotChildren(leafIndex) };
  }

  /** The `pathChildren` of any slot, including the empty one that the next append fills. */
  slotChildren(index: number): bigint[][] {
    assertInteger(index, 0, TREE_CAPACITY - 1, "index");
    const children: bigint[][] = [];
    for (let level = 0, node = index >> 3; level < TREE_DEPTH; level++, node >>= 3)
      children.push(this.children(level, node));
    return children;
  }

  /** The eight nodes of `level` (0: leaves) below the node `parent` of the level above. */
  children(level: number, parent: number): bigint[] {
    const nodes = this.#levels[level]!;
    const empty = emptyRoots()[level]!;
    return Array.from({ length: TREE_ARITY }, (_, i) => nodes[parent * TREE_ARITY + i] ?? empty);
  }

  /** Recomputes all nodes above the leaves from `firstLeaf` on. */
  #hashFrom(firstLeaf: number, permutation: PermuteMany = permuteMany): void {
    let first = firstLeaf >> 3;
    for (let level = 0; level < TREE_DEPTH; level++, first >>= 3) {
      const end = ((this.#levels[level]!.length - 1) >> 3) + 1;
      const nodes = Array.from({ length: end - first }, (_, i) => this.children(level, first + i));
      const parents = this.#levels[level + 1]!;
      for (const [i, parent] of compressMany(nodes, permutation).entries()) parents[first + i] = parent;
    }
  }
}
