import { describe, fail } from "../errors.ts";
import { CIRCUITS, type CircuitInputs, type CircuitName } from "../generated/circuits.ts";
import { noteCommitment, ownerTagOf } from "../note.ts";
import { NoteTree, type TreePath } from "../tree/note-tree.ts";
import { assertObject } from "../validate.ts";

/** A value of a circuit's input object: a field element or nested arrays of them. */
export type CircuitValue = bigint | readonly CircuitValue[];

/** A circuit's input object by signal name, public and private. */
export type CircuitInput = Readonly<Record<string, CircuitValue>>;

/** A circuit's input and the public signals that it must produce, in wire order, computed without the circuit. */
export interface Statement<Name extends CircuitName = CircuitName> {
  /** All inputs of the circuit by name. The private ones are secrets. */
  readonly input: CircuitInput & CircuitInputs[Name];
  /** Field elements in wire order: the verifier's public inputs. */
  readonly publicSignals: readonly bigint[];
}

/** The circuit's public signals in wire order, taken from its input by name. */
export function publicSignalsOf(circuit: CircuitName, input: CircuitInput): bigint[] {
  return CIRCUITS[circuit].publicSignals.flatMap(({ name }) => input[name] as bigint | bigint[]);
}

/** A note with the values that spending it needs. */
export interface SpendableNote {
  /** Base units. */
  readonly amount: bigint;
  /** A field element. */
  readonly blinding: bigint;
  /** The key whose owner tag the note has, a field element. Secret. */
  readonly spendingKey: bigint;
  /** Index of the note in the tree, 0 to 2^30 - 1. */
  readonly leafIndex: number;
}

/** A spendable note found in the tree. */
export interface LocatedNote extends SpendableNote {
  readonly ownerTag: bigint;
  readonly commitment: bigint;
  readonly path: TreePath;
}

export function assertTree(tree: unknown): void {
  if (!(tree instanceof NoteTree)) fail("INVALID_ARGUMENT", `tree must be a NoteTree, got ${describe(tree)}`);
}

/** Finds the note in the tree. @throws SottoError NOTE_NOT_IN_TREE if another commitment is at its index */
export function locate(tree: NoteTree, note: SpendableNote): LocatedNote {
  assertTree(tree);
  assertObject(note, "a note");
  const ownerTag = ownerTagOf(note.spendingKey);
  const commitment = noteCommitment({ amount: note.amount, ownerTag, blinding: note.blinding });
  if (tree.leaf(note.leafIndex) !== commitment) {
    const message = `leaf ${note.leafIndex} of the tree is not this note: check amount, blinding, key and index`;
    fail("NOTE_NOT_IN_TREE", message, { leafIndex: note.leafIndex });
  }
  return { ...note, ownerTag, commitment, path: tree.path(note.leafIndex) };
}
