import { emptyRoots, TREE_DEPTH } from "@sotto/protocol";

export const EMPTY_ROOT = emptyRoots()[TREE_DEPTH]!;

/** The storage of the local pool. */
export interface PoolState {
  leaves: bigint[];
  /** Number of leaves in the tree, the keccak chain up to the last leaf, and the checkpoint of the next leaf. */
  appended: number;
  appendedChain: string;
  firstPending: number;
  root: bigint;
  roots: Set<bigint>;
  /** Digest by nullifier. */
  spent: Map<bigint, string>;
}

export function emptyState(): PoolState {
  const appendedChain = `0x${"0".repeat(64)}`;
  return {
    leaves: [],
    appended: 0,
    appendedChain,
    firstPending: 0,
    root: EMPTY_ROOT,
    roots: new Set(),
    spent: new Map(),
  };
}

export function copyState(state: PoolState): PoolState {
  const { leaves, roots, spent } = state;
  return { ...state, leaves: [...leaves], roots: new Set(roots), spent: new Map(spent) };
}
