import { appendChallenge, assertAppendLeaves, evaluateAppend } from "../append.ts";
import type { Deployment } from "../deployment.ts";
import { fail } from "../errors.ts";
import { MAX_APPEND_LEAVES, TREE_ARITY, TREE_CAPACITY } from "../generated/circuits.ts";
import type { NoteTree } from "../tree/note-tree.ts";
import { assertObject } from "../validate.ts";
import { assertTree, publicSignalsOf, type Statement } from "./types.ts";

export interface AppendArguments extends Deployment {
  /** The tree before the append. It is not modified. */
  readonly tree: NoteTree;
  /** 1 to 64 queued commitments, in order. */
  readonly leaves: readonly bigint[];
}

/** What a proof of an append is made from, and the values that follow from it. */
export interface AppendInputs extends Statement<"note_append"> {
  /** Root of the tree before the append. */
  readonly oldRoot: bigint;
  /** Root of the tree with the leaves. */
  readonly newRoot: bigint;
  /** Number of leaves in the tree before the append: the index of the first new one. */
  readonly startIndex: number;
}

/**
 * The note_append circuit's input and public signals.
 * @throws SottoError INVALID_LEAF, TREE_FULL and the codes of malformed arguments
 */
export function prepareAppend(args: AppendArguments): AppendInputs {
  assertObject(args, "the append");
  const { chainId, pool, tree } = args;
  assertTree(tree);
  const leaves = assertAppendLeaves(args.leaves);
  const oldRoot = tree.root;
  const startIndex = tree.size;
  if (startIndex === TREE_CAPACITY) fail("TREE_FULL", "the tree has no room for another leaf");
  // Read before the append: the nodes left of the path to the first new leaf. The nodes right of the path are empty.
  const leftSiblings = tree.slotChildren(startIndex).map((children, level) => {
    const position = Math.floor(startIndex / TREE_ARITY ** level) % TREE_ARITY;
    return children.slice(0, TREE_ARITY - 1).map((child, i) => (i < position ? child : 0n));
  });
  const newRoot = tree.rootAfter(leaves);
  const challenge = appendChallenge({ chainId, pool, oldRoot, newRoot, startIndex, leaves });
  const publicInput = {
    newRoot,
    challenge,
    evaluation: evaluateAppend(challenge, { oldRoot, startIndex, leaves }),
  };
  const padding = new Array<bigint>(MAX_APPEND_LEAVES - leaves.length).fill(0n);
  return {
    input: { ...publicInput, startIndex: BigInt(startIndex), leaves: [...leaves, ...padding], leftSiblings },
    publicSignals: publicSignalsOf("note_append", publicInput),
    oldRoot,
    newRoot,
    startIndex,
  };
}
