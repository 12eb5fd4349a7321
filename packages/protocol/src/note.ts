import { TREE_CAPACITY } from "./generated/circuits.ts";
import { DOMAIN, poseidon } from "./poseidon/hash.ts";
import { assertAmount, assertField, assertInteger, assertObject } from "./validate.ts";

/** A note as its owner knows it. */
export interface Note {
  /** Token base units, 0 to 2^64 - 1. */
  readonly amount: bigint;
  /** Poseidon1 of the owner's spending key. */
  readonly ownerTag: bigint;
  /** A field element. It is public for a deposited note, and secret for every other one. */
  readonly blinding: bigint;
}

/** cm = Poseidon3(amount, tag, blinding). @throws SottoError INVALID_AMOUNT, INVALID_FIELD_ELEMENT */
export function noteCommitment(note: Note): bigint {
  assertObject(note, "a note");
  const amount = assertAmount(note.amount, "note.amount");
  const ownerTag = assertField(note.ownerTag, "note.ownerTag");
  return poseidon([amount, ownerTag, assertField(note.blinding, "note.blinding")], DOMAIN.note);
}

/** tag = Poseidon1(sk): only the owner of sk can spend a note with this tag. */
export function ownerTagOf(spendingKey: bigint): bigint {
  return poseidon([assertField(spendingKey, "spendingKey")], DOMAIN.ownerTag);
}

/** Checks a leaf index of the note tree, 0 to 2^30 - 1. */
export function assertLeafIndex(leafIndex: unknown, name = "leafIndex"): number {
  return assertInteger(leafIndex, 0, TREE_CAPACITY - 1, name);
}

/**
 * nf = Poseidon3(sk, cm, leafIndex). The leaf index gives two notes with the same commitment different nullifiers, so
 * both can be spent.
 * @param leafIndex 0 to 2^30 - 1
 */
export function nullifier(spendingKey: bigint, commitment: bigint, leafIndex: number): bigint {
  const sk = assertField(spendingKey, "spendingKey");
  const index = BigInt(assertLeafIndex(leafIndex));
  return poseidon([sk, assertField(commitment, "commitment"), index], DOMAIN.nullifier);
}
