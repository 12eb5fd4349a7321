import { mod } from "@sotto/certify/check/field";
import { buildPoseidon } from "circomlibjs";

const poseidonWasm = await buildPoseidon();

export const DOMAIN = {
  note: 0n,
  ownerTag: 1n,
  nullifier: 2n,
  encryption: 3n,
  senderCommitment: 4n,
  recipient: 5n,
  withdrawal: 7n,
};

/** Poseidon from circomlibjs with `outputs` output lanes and the initial state `domain`. */
export function poseidonEx(inputs: readonly bigint[], outputs: number, domain = 0n): bigint[] {
  const result = poseidonWasm(inputs, domain, outputs);
  const lanes: Uint8Array[] = outputs === 1 ? [result] : result;
  return lanes.map((lane) => poseidonWasm.F.toObject(lane));
}

export const poseidon = (inputs: readonly bigint[], domain = 0n): bigint => poseidonEx(inputs, 1, domain)[0] as bigint;

/** A tree node: the first lane of the permutation of width 8 over all children, plus the first child. */
export function node(children: readonly bigint[]): bigint {
  if (children.length !== 8) throw new RangeError(`a node has 8 children, got ${children.length}`);
  return mod(poseidon(children.slice(1), children[0]) + (children[0] as bigint));
}

export const ownerTag = (spendingKey: bigint): bigint => poseidon([spendingKey], DOMAIN.ownerTag);
export const commitment = (amount: bigint, tag: bigint, blinding: bigint): bigint => poseidon([amount, tag, blinding]);
export const nullifier = (spendingKey: bigint, leaf: bigint, leafIndex: bigint): bigint =>
  poseidon([spendingKey, leaf, leafIndex], DOMAIN.nullifier);
