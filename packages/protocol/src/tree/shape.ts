import { TREE_ARITY, TREE_DEPTH } from "../generated/circuits.ts";
import { compress } from "../poseidon/hash.ts";

let zeros: readonly bigint[] | undefined;

/**
 * Roots of empty subtrees by height, from height 0 (an empty leaf, whose value is 0) to TREE_DEPTH (the empty tree).
 */
export function emptyRoots(): readonly bigint[] {
  if (zeros === undefined) {
    const roots = [0n];
    for (let level = 0; level < TREE_DEPTH; level++) roots.push(compress(new Array(TREE_ARITY).fill(roots[level])));
    zeros = roots;
  }
  return zeros;
}
