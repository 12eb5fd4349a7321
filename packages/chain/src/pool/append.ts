import {
  appendEnd,
  type NoteTree,
  pendingCheckpoints,
  prepareAppend,
  type QueuedLeaf,
  type QueueStart,
} from "@sotto/protocol";
import { ChainError } from "../errors.ts";

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
  /** Address of the pool, 20 bytes, hex with 0x. */
  pool: string;
  /** The contract's queue in the block up to which `queue` was read. */
  start: QueueStart;
  /**
   * The leaves that are not in the tree yet, in order. At least as many as fit in one append, if there are that many.
   */
  queue: readonly QueuedLeaf[];
  /** The tree with the first `start.appended` leaves. */
  tree: () => NoteTree | Promise<NoteTree>;
  /** Proves the circuit note_append. */
  prover: AppendProver;
  /** Aborts proving: the promise then rejects. */
  signal?: AbortSignal | undefined;
}

/**
 * Proves the next append, with as many leaves as possible.
 * @returns undefined if the queue is empty
 * @throws ChainError PROOF_MISMATCH
 */
export async function proveAppend(options: AppendOptions): Promise<AppendCall | undefined> {
  const { chainId, pool, start, queue, prover, signal } = options;
  const end = appendEnd(start, pendingCheckpoints(start, queue));
  if (end === undefined) return undefined;
  const leaves = queue.slice(0, end.count - start.appended).map(({ leaf }) => leaf);
  const prepared = prepareAppend({ chainId, pool, tree: await options.tree(), leaves });
  const proved = await prover.prove("note_append", prepared.input, { signal });
  if (proved.publicSignals.join() !== prepared.publicSignals.join())
    throw new ChainError(
      "PROOF_MISMATCH",
      "the prover returned a proof of a different statement than the given note_append",
    );
  return {
    newRoot: String(prepared.newRoot),
    leaves: leaves.map(String),
    proof: proved.proof,
    sequence: String(end.sequence),
  };
}
