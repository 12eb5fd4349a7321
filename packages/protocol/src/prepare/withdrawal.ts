import {
  type Bytes32,
  signalsDigest,
  type WithdrawalTerms,
  withdrawalContext,
  withdrawalPadContext,
} from "../contexts.ts";
import type { Deployment } from "../deployment.ts";
import { describe, fail } from "../errors.ts";
import { TREE_ARITY, TREE_DEPTH, WITHDRAWAL_INPUTS } from "../generated/circuits.ts";
import { type Note, noteCommitment, nullifier, ownerTagOf } from "../note.ts";
import { signalWords } from "../payment/signals.ts";
import { compress } from "../poseidon/hash.ts";
import { changeSecrets, hintOf } from "../secrets.ts";
import type { NoteTree } from "../tree/note-tree.ts";
import { assertAmount, assertObject } from "../validate.ts";
import { withdrawalPublicSignals } from "../withdrawal.ts";
import { type LocatedNote, locate, publicSignalsOf, type SpendableNote, type Statement } from "./types.ts";

export interface WithdrawalArguments extends Deployment, WithdrawalTerms {
  /** The tree at a root that the pool accepts. A proof against the newest confirmed root reveals the least. */
  readonly tree: NoteTree;
  /** 1 to 8 different notes. */
  readonly notes: readonly SpendableNote[];
  /** Base units that leave the pool: the recipient's part and the fee. The rest becomes one note. */
  readonly amount: bigint;
  /** The wallet's change key, with which a restored wallet finds the output note. */
  readonly changeKey: bigint;
  /** Owner tag of the output note. */
  readonly outputTag: bigint;
  /**
   * Withdraws the notes' whole amount and queues no note (changeHint 0), so that the withdrawal needs no room in the tree.
   * Default: false.
   */
  readonly leaveNothing?: boolean | undefined;
}

/** What a proof of a withdrawal is made from, and the values that follow from it. */
export interface WithdrawalInputs extends Statement<"withdrawal"> {
  /** The thirteen signals in wire order, from which the three public signals follow. */
  readonly signals: readonly bigint[];
  /** Nullifiers of the spent notes only, in order. */
  readonly nullifiers: readonly bigint[];
  /** Signal 0: binds chain, pool, recipient, fee, fee recipient and validUntil. */
  readonly context: bigint;
  /** keccak256 of the thirteen signals. */
  readonly digest: Bytes32;
  /** The note with what is left, which the wallet gets back. It is not queued if `leaveNothing` is true. */
  readonly outputNote: Note;
}

/**
 * An unused input: amount 0, key 0, and a path that satisfies the circuit's multiplexer. The circuit does not check its
 * root.
 */
function unusedInput(): LocatedNote {
  const ownerTag = ownerTagOf(0n);
  const commitment = noteCommitment({ amount: 0n, ownerTag, blinding: 0n });
  const pathChildren: bigint[][] = [];
  for (let level = 0, node = commitment; level < TREE_DEPTH; level++) {
    const children = [node, ...new Array<bigint>(TREE_ARITY - 1).fill(0n)];
    pathChildren.push(children);
    node = compress(children);
  }
  const path = { leafIndex: 0, pathChildren };
  return { amount: 0n, blinding: 0n, spendingKey: 0n, leafIndex: 0, ownerTag, commitment, path };
}

function assertNotes(notes: readonly SpendableNote[]): void {
  if (!Array.isArray(notes) || notes.length < 1 || notes.length > WITHDRAWAL_INPUTS)
    fail(
      "INVALID_WITHDRAWAL_INPUTS",
      `a withdrawal spends an array of 1 to ${WITHDRAWAL_INPUTS} notes, got ${describe(notes)}`,
    );
  for (const note of notes) assertObject(note, "a note");
  if (new Set(notes.map((note) => note.leafIndex)).size !== notes.length)
    fail("INVALID_WITHDRAWAL_INPUTS", "a withdrawal cannot spend one note twice: leaf indices must differ");
}

function outputAmountOf(args: WithdrawalArguments): bigint {
  const amount = assertAmount(args.amount);
  const total = args.notes.reduce((sum, note) => sum + note.amount, 0n);
  if (amount > total) {
    const missing = (amount - total).toString();
    const message = `the notes hold ${total} base units, ${missing} fewer than the ${amount} to withdraw`;
    fail("INSUFFICIENT_NOTES", message, { missing, needed: amount.toString() });
  }
  if (assertAmount(args.fee, "fee") > amount) fail("INVALID_AMOUNT", "fee exceeds amount, which it is part of");
  return assertAmount(total - amount, "the amount left over");
}

/**
 * The withdrawal circuit's input and public signals.
 * @throws SottoError INVALID_WITHDRAWAL_INPUTS, INSUFFICIENT_NOTES (details.missing in base units), NOTE_NOT_IN_TREE,
 *   LEAF_NOT_FOUND and the codes of malformed arguments
 */
export function prepareWithdrawal(args: WithdrawalArguments): WithdrawalInputs {
  assertObject(args, "the withdrawal");
  assertNotes(args.notes);
  const spent = args.notes.map((note) => locate(args.tree, note));
  const outputAmount = outputAmountOf(args);
  const nullifiers = spent.map((note) => nullifier(note.spendingKey, note.commitment, note.leafIndex));
  const context = withdrawalContext(args);
  const shown = Array.from({ length: WITHDRAWAL_INPUTS }, (_, i) => nullifiers[i] ?? 0n);
  const unique = withdrawalPadContext(context, args.amount, shown);
  const { blinding, pad } = changeSecrets(args.changeKey, nullifiers[0]!, unique);
  if (args.leaveNothing === true && outputAmount !== 0n) {
    const message = "amount must be the whole amount of the notes if leaveNothing is true";
    fail("INVALID_AMOUNT", message, { left: outputAmount.toString() });
  }
  const outputNote: Note = { amount: outputAmount, ownerTag: args.outputTag, blinding };

  const unused = WITHDRAWAL_INPUTS - spent.length;
  const inputs = unused === 0 ? spent : [...spent, ...new Array<LocatedNote>(unused).fill(unusedInput())];
  const signals = signalWords("withdrawal", {
    context,
    amount: args.amount,
    root: args.tree.root,
    nullifiers: shown,
    commitment: noteCommitment(outputNote),
    changeHint: args.leaveNothing === true ? 0n : hintOf(pad, outputAmount),
  });
  const [statementHash, challenge, evaluation] = withdrawalPublicSignals(signals);
  const publicInput = { statementHash, challenge, evaluation };
  const privateInput = {
    amount: args.amount,
    root: args.tree.root,
    enabled: inputs.map((_, i) => (i < spent.length ? 1n : 0n)),
    spendingKeys: inputs.map((note) => note.spendingKey),
    amounts: inputs.map((note) => note.amount),
    blindings: inputs.map((note) => note.blinding),
    leafIndices: inputs.map((note) => BigInt(note.leafIndex)),
    pathChildren: inputs.map((note) => note.path.pathChildren),
    outputAmount,
    outputTag: args.outputTag,
    outputBlinding: blinding,
  };
  return {
    input: { ...publicInput, ...privateInput },
    publicSignals: publicSignalsOf("withdrawal", publicInput),
    signals,
    nullifiers,
    context,
    digest: signalsDigest(signals),
    outputNote,
  };
}
