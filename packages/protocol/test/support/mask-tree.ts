import { type OriginArguments, TREE_DEPTH } from "../../src/index.ts";
import { hashNode } from "../../src/poseidon/hash.ts";

/** Root of the mask tree with these leaves and 0 everywhere else, and the path of `leafIndex` in it. */
export function maskTree(
  set: Readonly<Record<number, bigint>>,
  leafIndex: number,
): Pick<OriginArguments, "path" | "maskRoot"> {
  let nodes = new Map(Object.entries(set).map(([index, leaf]) => [Number(index), leaf]));
  let empty = 0n;
  const pathChildren: bigint[][] = [];
  for (let level = 0; level < TREE_DEPTH; level++) {
    const childrenOf = (parent: number) => Array.from({ length: 8 }, (_, i) => nodes.get(8 * parent + i) ?? empty);
    pathChildren.push(childrenOf(Math.floor(leafIndex / 8 ** (level + 1))));
    const parents = new Set([...nodes.keys()].map((index) => Math.floor(index / 8)));
    nodes = new Map([...parents].map((parent) => [parent, hashNode(childrenOf(parent))]));
    empty = hashNode(new Array<bigint>(8).fill(empty));
  }
  return { path: { leafIndex, pathChildren }, maskRoot: nodes.get(0) ?? empty };
}
