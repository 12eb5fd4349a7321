import { type Bytes32, emptyRoots, TREE_DEPTH } from "@sotto/protocol";

export const EMPTY_ROOT = emptyRoots()[TREE_DEPTH]!;

/** The storage of the local pool. */
export interface PoolState {
  leaves: bigint[];
  /** Number of leaves in the tree, and the checkpoint at which it ends. */
  appended: number;
  lastAppended: number;
  /** Number of leaves at the last append. */
  due: number;
  /** The keccak chain after each checkpoint, from checkpoint 0 on. */
  checkpoints: Bytes32[];
  newestLeaves: number;
  newestTime: number;
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
    due: 0,
    checkpoints: [`0x${"00".repeat(32)}`],
    newestLeaves: 0,
    newestTime: 0,
    root: EMPTY_ROOT,
    roots: new Set(),
    spent: new Map(),
  };
}

export function copyState(state: PoolState): PoolState {
  const { leaves, roots, spent, checkpoints } = state;
  const copies = { leaves: [...leaves], checkpoints: [...checkpoints] };
  return { ...state, ...copies, roots: new Set(roots), spent: new Map(spent) };
}
