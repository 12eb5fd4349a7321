import { describe, fail } from "../errors.ts";
import { TREE_ARITY, TREE_DEPTH } from "../generated/circuits.ts";
import { assertLeafIndex, noteCommitment, nullifier, ownerTagOf } from "../note.ts";
import { compressMany } from "../poseidon/hash.ts";
import { permuteMany } from "../poseidon/permutation.ts";
import type { TreePath } from "../tree/note-tree.ts";
import { assertArray, assertField, assertObject } from "../validate.ts";
import { publicSignalsOf, type SpendableNote, type Statement } from "./types.ts";

/** The values from which the inputs of the circuit origin are computed. */
export interface OriginArguments {
  /** The note whose origin is proved. Its index is the same in the pool's tree and in the mask tree. */
  readonly note: SpendableNote;
  /** The note's path in the curator's mask tree. Do not request it from a server, which would learn the note. */
  readonly path: TreePath;
  /** Root of the mask tree, as the curator published it. */
  readonly maskRoot: bigint;
}

/** What a proof of an origin is made from, and the values that follow from it. */
export interface OriginInputs extends Statement<"origin"> {
  /** Root of the mask tree, a field element. */
  readonly maskRoot: bigint;
  /** Nullifier of the note, a field element: the one with which a payment or a withdrawal spends it. */
  readonly nullifier: bigint;
}

/**
 * The origin circuit's input and public signals: the note with this nullifier is in the set with this mask root.
 * @throws SottoError NOTE_NOT_IN_MASK (details.leafIndex), INVALID_MASK_PATH and the codes of malformed arguments
 */
export function prepareOrigin(args: OriginArguments): OriginInputs {
  assertObject(args, "the origin");
  assertObject(args.note, "a note");
  const { amount, blinding, spendingKey } = args.note;
  const leafIndex = assertLeafIndex(args.note.leafIndex);
  const maskRoot = assertField(args.maskRoot, "maskRoot");
  const pathChildren = assertPath(args.path, leafIndex);
  const commitment = noteCommitment({ amount, ownerTag: ownerTagOf(spendingKey), blinding });
  const leaf = pathChildren[0]?.[leafIndex % TREE_ARITY];
  if (leaf !== commitment) {
    const found =
      leaf === 0n
        ? "0: the curator's set does not contain the note"
        : "another note: check amount, blinding, key and index";
    fail("NOTE_NOT_IN_MASK", `leaf ${leafIndex} of the mask tree is ${found}`, { leafIndex });
  }
  assertLeadsTo(maskRoot, pathChildren, leafIndex);
  const publicInput = { maskRoot, nullifier: nullifier(spendingKey, commitment, leafIndex) };
  const privateInput = { spendingKey, amount, blinding, leafIndex: BigInt(leafIndex), pathChildren };
  return {
    input: { ...publicInput, ...privateInput },
    publicSignals: publicSignalsOf("origin", publicInput),
    ...publicInput,
  };
}

function assertPath(path: TreePath, leafIndex: number): readonly (readonly bigint[])[] {
  assertObject(path, "path");
  if (path.leafIndex !== leafIndex)
    fail("INVALID_MASK_PATH", `the path must be that of leaf ${leafIndex}, got that of ${describe(path.leafIndex)}`);
  for (const children of assertArray(path.pathChildren, TREE_DEPTH, "INVALID_MASK_PATH", "path.pathChildren"))
    for (const child of assertArray(children, TREE_ARITY, "INVALID_MASK_PATH", "each level of path.pathChildren"))
      assertField(child, "a node of the path");
  return path.pathChildren;
}

/** Hashes the nodes of the path, and compares each with its place on the level above. */
function assertLeadsTo(maskRoot: bigint, pathChildren: readonly (readonly bigint[])[], leafIndex: number): void {
  for (const [level, node] of compressMany(pathChildren, permuteMany).entries()) {
    const position = Math.floor(leafIndex / TREE_ARITY ** (level + 1)) % TREE_ARITY;
    const expected = level + 1 === TREE_DEPTH ? maskRoot : pathChildren[level + 1]?.[position];
    if (node === expected) continue;
    const place = level + 1 === TREE_DEPTH ? "the mask root" : `child ${position} of level ${level + 1}`;
    fail(
      "INVALID_MASK_PATH",
      `the hash of the path's level ${level} is not ${place}: take path and root from one tree`,
    );
  }
}
