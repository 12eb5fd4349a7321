import { emptyRoots, TREE_DEPTH } from "@sotto/protocol";

export const EMPTY_ROOT = emptyRoots()[TREE_DEPTH]!;

/** The storage of the local pool. */
export interface PoolState {
  leaves: bigint[];
  /** Number of leaves in the tree, and the checkpoint at which it ends. */
  appended: number;
  lastAppended: number;
  root: bigint;
  roots: Set<bigint>;
  /** Digest by nullifier. */
  spent: Map<bigint, string>;
}

export function emptyState(): PoolState {
  return {
    leaves: [],
    appended: 0,
    lastAppended: 0,
    root: EMPTY_ROOT,
    roots: new Set(),
    spent: new Map(),
  };
}

export function copyState(state: PoolState): PoolState {
  const { leaves, roots, spent } = state;
  return { ...state, leaves: [...leaves], roots: new Set(roots), spent: new Map(spent) };
}
