// Inputs and public signals of note_append, computed without the circuits.
import { mod } from "@sotto/certify/check/field";
import type { Inputs } from "../kit/witness.ts";
import { Tree } from "./tree.ts";

/** Maximum number of leaves in an append. */
export const APPEND = 64;

/** sum(values[i] at^i). */
export const evaluate = (values: readonly bigint[], at: bigint): bigint =>
  values.reduceRight((sum, value) => mod(sum * at + value), 0n);

/** The nodes to the left of the path of `startIndex` on each level; 0 for entries that the circuit ignores. */
export const leftSiblings = (tree: Tree, startIndex: bigint): bigint[][] =>
  tree.path(startIndex).map((children, level) => {
    const position = (startIndex >> BigInt(3 * level)) & 7n;
    return children.slice(0, 7).map((child, j) => (BigInt(j) < position ? child : 0n));
  });

export interface Append {
  inputs: Inputs;
  /** The three public signals in order. */
  signals: bigint[];
}

/**
 * Inserts 1 to 64 leaves into the tree, which must be empty from startIndex on, and returns the statement of this
 * append.
 */
export function makeAppend(tree: Tree, startIndex: bigint, leaves: readonly bigint[], challenge: bigint): Append {
  const siblings = leftSiblings(tree, startIndex);
  const oldRoot = tree.root;
  for (const [i, leaf] of leaves.entries()) tree.set(startIndex + BigInt(i), leaf);
  const publicInputs = {
    newRoot: tree.root,
    challenge,
    evaluation: evaluate([oldRoot, startIndex, ...leaves], challenge),
  };
  const padded = Array.from({ length: APPEND }, (_, i) => leaves[i] ?? 0n);
  return {
    inputs: { ...publicInputs, startIndex, leaves: padded, leftSiblings: siblings },
    signals: Object.values(publicInputs),
  };
}

/** A tree of this depth whose first `count` leaves are 1001, 1002, ... */
export function treeOf(depth: number, count: number): Tree {
  const tree = new Tree(depth);
  for (let i = 0; i < count; i++) tree.set(BigInt(i), 1001n + BigInt(i));
  return tree;
}
