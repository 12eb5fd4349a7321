import { node } from "./hash.ts";

/** A sparse 8-ary tree of any depth, slow and simple. Tests compare the circuits' paths with it. */
export class Tree {
  readonly depth: number;
  readonly #levels: Map<bigint, bigint>[];
  /** The root of an empty subtree of each height; 0 for a leaf. */
  readonly empty: bigint[];

  constructor(depth: number) {
    this.depth = depth;
    this.#levels = Array.from({ length: depth + 1 }, () => new Map());
    this.empty = [0n];
    for (let level = 0; level < depth; level++) this.empty.push(node(Array(8).fill(this.empty[level])));
  }

  get capacity(): bigint {
    return 8n ** BigInt(this.depth);
  }

  get root(): bigint {
    return this.#at(this.depth, 0n);
  }

  #at(level: number, index: bigint): bigint {
    return this.#levels[level]?.get(index) ?? (this.empty[level] as bigint);
  }

  set(leafIndex: bigint, leaf: bigint): void {
    if (leafIndex < 0n || leafIndex >= this.capacity)
      throw new RangeError(`leaf index ${leafIndex} is outside the tree, which has ${this.capacity} leaves`);
    this.#levels[0]?.set(leafIndex, leaf);
    for (let level = 1, index = leafIndex / 8n; level <= this.depth; level++, index /= 8n)
      this.#levels[level]?.set(index, node(this.children(level, index)));
  }

  /** The eight children of a node. Level 1 contains the parents of leaves. */
  children(level: number, index: bigint): bigint[] {
    return Array.from({ length: 8 }, (_, i) => this.#at(level - 1, 8n * index + BigInt(i)));
  }

  /** The children of every node above a leaf, lowest level first. */
  path(leafIndex: bigint): bigint[][] {
    return Array.from({ length: this.depth }, (_, level) =>
      this.children(level + 1, leafIndex >> BigInt(3 * level + 3)),
    );
  }
}

/** The lowest `count` bits of an integer, lowest first. */
export const bitsOf = (value: bigint, count: number): bigint[] =>
  Array.from({ length: count }, (_, i) => (value >> BigInt(i)) & 1n);
