import {
  type Address,
  type Bytes32,
  CHECKPOINT_LEAVES,
  foldQueue,
  MAX_APPEND_LEAVES,
  type NoteTree,
  prepareAppend,
} from "@sotto/protocol";
import { ChainError } from "../errors.ts";
import type { Block } from "../rpc/values.ts";
import { type ChainSource, inconsistent } from "../source.ts";
import type { NewestCheckpoint } from "./newest-checkpoint.ts";
import { poolViews, type QueueStart, type QueueState } from "./views.ts";

/** The arguments of the pool's `append`, which moves queued notes into the tree. */
export interface AppendCall {
  /** Root of the tree after the append, decimal. */
  newRoot: string;
  /** The next 1 to 64 commitments of the queue, in order, decimal. */
  leaves: readonly string[];
  /** Proof of the circuit note_append: eight decimal words in the order of IVerifier.sol. */
  proof: readonly string[];
  /** Number of the checkpoint at which the append ends, decimal. */
  sequence: string;
}

/** An append and where it ends. */
export interface ProvedAppend {
  /** The arguments of the pool's `append`. */
  readonly append: AppendCall;
  /** Where the next append starts. */
  readonly end: QueueStart;
  /** The contract's `checkpoint(end.lastAppended)`. If it is another one, the append would revert. */
  readonly chain: Bytes32;
}

/** Proves appends; for example a prover of @sotto/prover. */
export interface AppendProver {
  /** Proves `input` for a circuit. Rejects if the input is wrong or `signal` aborts. */
  prove(
    circuit: string,
    input: ReturnType<typeof prepareAppend>["input"],
    options?: { signal?: AbortSignal | undefined },
  ): Promise<{ proof: string[]; publicSignals: string[] }>;
}

/** The inputs of an append and of its proof. */
export interface AppendOptions {
  /** EIP-155 id of the pool's chain. The proof is valid for this chain and pool only. */
  chainId: bigint;
  /** Address of the pool. */
  pool: Address;
  /** Where the contract's checkpoints are read. */
  chain: ChainSource;
  /** The block whose state `queue` is. */
  block: Block;
  /** The contract's queue in that block. */
  queue: QueueState;
  /** Tells whether the newest checkpoint can still grow. Keep it between appends. */
  newest: NewestCheckpoint;
  /** The end of an earlier append, which is not in that block. Default: the tree's end. */
  after?: QueueStart | undefined;
  /** The leaves from there on, in order: 64, or all that were queued up to that block. More are ignored. */
  leaves: readonly bigint[];
  /** The tree with all leaves before them. */
  tree: () => NoteTree | Promise<NoteTree>;
  /** Proves the circuit note_append. */
  prover: AppendProver;
  /** Aborts proving: the promise then rejects. */
  signal?: AbortSignal | undefined;
}

/**
 * Proves the next append, with as many leaves as possible. It ends at a checkpoint that no later block can change, so it is
 * valid until another append lands.
 * @returns undefined if there is none now: the queue is empty, or too short until its newest checkpoint can no longer grow
 * @throws ChainError PROOF_MISMATCH, NODE_INCONSISTENT, and faults of nodes
 */
export async function proveAppend(options: AppendOptions): Promise<ProvedAppend | undefined> {
  const { chainId, pool, queue, after, prover, signal } = options;
  const { appended } = after ?? queue;
  const end = await findEnd(options);
  if (end === undefined) return undefined;
  const { count, sequence, chain } = end;
  // The contract's rule. It is not known what is queued when an earlier append lands.
  const reachesDue = after === undefined && appended + count >= queue.due;
  if (count <= CHECKPOINT_LEAVES && !reachesDue) return undefined;
  const leaves = options.leaves.slice(0, count);
  const prepared = prepareAppend({ chainId, pool, tree: await options.tree(), leaves });
  const proved = await prover.prove("note_append", prepared.input, { signal });
  if (proved.publicSignals.join() !== prepared.publicSignals.join())
    throw new ChainError(
      "PROOF_MISMATCH",
      "the prover returned a proof of a different statement than the given note_append",
    );
  const append = {
    newRoot: String(prepared.newRoot),
    leaves: leaves.map(String),
    proof: proved.proof,
    sequence: String(sequence),
  };
  return { append, end: { appended: appended + count, lastAppended: sequence }, chain };
}

/** A checkpoint at which an append may end: its number, the leaves up to there, and the contract's chain after them. */
interface End {
  readonly sequence: number;
  readonly count: number;
  readonly chain: Bytes32;
}

/**
 * The last final checkpoint within 64 leaves. The contract's own chains show which leaves a checkpoint includes, so neither
 * times of blocks nor a second implementation of the contract's rules is needed, and a node cannot invent a checkpoint.
 */
async function findEnd({ chain, pool, block, queue, newest, ...options }: AppendOptions): Promise<End | undefined> {
  const { appended, lastAppended } = options.after ?? queue;
  const views = poolViews(chain, pool);
  const final = (await newest.isFinal(chain, block, queue)) ? queue.newest : queue.newest - 1;
  // Each checkpoint has a leaf at least.
  let last = Math.min(final, lastAppended + MAX_APPEND_LEAVES);
  if (last <= lastAppended) return undefined;
  const counts = new Map<Bytes32, number>();
  let folded = await views.checkpoint(lastAppended, block.number);
  for (const [index, leaf] of options.leaves.slice(0, MAX_APPEND_LEAVES).entries()) {
    folded = foldQueue(folded, leaf);
    counts.set(folded, index + 1);
  }
  let found: End | undefined;
  // Binary search: the checkpoints up to `found` are within the leaves, those after `last` are not.
  for (let next = last; last > (found?.sequence ?? lastAppended); ) {
    const value = await views.checkpoint(next, block.number);
    const count = counts.get(value);
    if (count === undefined) last = next - 1;
    else found = { sequence: next, count, chain: value };
    next = Math.ceil(((found?.sequence ?? lastAppended) + last) / 2);
  }
  // The first one has at most 32 leaves, so it is within any 64.
  if (found === undefined)
    throw inconsistent(chain, `has another checkpoint ${lastAppended + 1} than the leaves from ${appended} on`);
  return found;
}
