import { compress, TREE_ARITY } from "../poseidon/hash.ts";

export { TREE_ARITY };

/** Levels of nodes above the leaves. */
export const TREE_DEPTH = 10;

/** Leaves the tree has room for: 8^10 = 2^30. */
export const TREE_CAPACITY = TREE_ARITY ** TREE_DEPTH;

let zeros: readonly bigint[] | undefined;

/** Roots of empty subtrees by height, 0 (an empty leaf, 0) to TREE_DEPTH (the empty tree). */
export function emptyRoots(): readonly bigint[] {
  if (zeros === undefined) {
    const roots = [0n];
    for (let level = 0; level < TREE_DEPTH; level++) roots.push(compress(new Array(TREE_ARITY).fill(roots[level])));
    zeros = roots;
  }
  return zeros;
}
