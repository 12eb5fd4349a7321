import { describe, fail } from "../errors.ts";
import { FIELD_MODULUS } from "../field.ts";
import { TREE_ARITY } from "../generated/circuits.ts";
import { assertArray, assertField } from "../validate.ts";
import { type PermuteMany, permute, permuteMany } from "./permutation.ts";

/**
 * Initial values of the capacity lane: each use of Poseidon has its own, so that a hash of one kind is never valid as
 * another kind. Commitments and tree nodes use 0, the only value that Solidity's Poseidon libraries support.
 */
export const DOMAIN = {
  note: 0,
  ownerTag: 1,
  nullifier: 2,
  encryption: 3,
  senderCommitment: 4,
  recipient: 5,
  change: 6,
  withdrawal: 7,
} as const;

/**
 * circomlib's PoseidonEx: several outputs of one permutation.
 * @param inputs 1 to 16 field elements
 * @param outputs 1 to inputs.length; never the whole state, which could be inverted
 * @param domain initial value of the capacity lane (circomlib's initialState), see DOMAIN
 * @throws SottoError INVALID_HASH_INPUT, INVALID_FIELD_ELEMENT
 */
export function poseidonEx(inputs: readonly bigint[], outputs: number, domain: number | bigint = 0): bigint[] {
  if (!Array.isArray(inputs) || inputs.length < 1 || inputs.length > 16)
    fail("INVALID_HASH_INPUT", `Poseidon takes an array of 1 to 16 inputs, got ${describe(inputs)}`);
  if (!Number.isInteger(outputs) || outputs < 1 || outputs > inputs.length)
    fail("INVALID_HASH_INPUT", `outputs must be 1 to ${inputs.length}, the number of inputs`);
  if (typeof domain !== "bigint" && !Number.isSafeInteger(domain))
    fail("INVALID_HASH_INPUT", "domain must be an integer");
  const state = [assertField(BigInt(domain), "domain")];
  for (const input of inputs) state.push(assertField(input, "a hash input"));
  return permute(state, outputs);
}

/** circomlib's Poseidon of 1 to 16 field elements; `domain` is the initial value of the capacity lane. */
export function poseidon(inputs: readonly bigint[], domain: number | bigint = 0): bigint {
  return poseidonEx(inputs, 1, domain)[0]!;
}

/**
 * A tree node in compression mode: all eight children fill the state (t = 8, one lane fewer than a sponge needs), and
 * child 0 is added to the permutation's truncated output, so that the permutation cannot be inverted.
 */
export function hashNode(children: readonly bigint[]): bigint {
  assertArray(children, TREE_ARITY, "INVALID_HASH_INPUT", "children");
  for (const child of children) assertField(child, "a child");
  return compress(children);
}

/** `hashNode` without checks, for children known to be eight field elements. */
export function compress(children: readonly bigint[]): bigint {
  return compressMany([children], permuteMany)[0]!;
}

/** `compress` for the children of many nodes. */
export function compressMany(nodes: readonly (readonly bigint[])[], permutation: PermuteMany): bigint[] {
  const permuted = permutation(nodes, 1);
  return nodes.map((children, i) => (permuted[i]![0]! + children[0]!) % FIELD_MODULUS);
}
