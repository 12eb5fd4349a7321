import type { Bytes32 } from "./contexts.ts";
import { type Deployment, deploymentWords } from "./deployment.ts";
import { describe, fail } from "./errors.ts";
import { evaluatePolynomial } from "./field.ts";
import { MAX_APPEND_LEAVES } from "./generated/circuits.ts";
import { bigIntToBytes, bytesToBigInt, bytesToHex, hexToBytes } from "./hex.ts";
import { keccakToField, keccakWords } from "./keccak.ts";
import { assertLeafIndex } from "./note.ts";
import { assertField, assertObject } from "./validate.ts";

/**
 * Maximum number of leaves in a checkpoint, half of an append: if the next checkpoint does not fit, an append has more than
 * this many leaves.
 */
export const CHECKPOINT_LEAVES = MAX_APPEND_LEAVES / 2;

/** The statement of an append. */
export interface AppendStatement extends Deployment {
  /** Root of the tree before the append, a field element. */
  readonly oldRoot: bigint;
  /** Root of the tree with these leaves, a field element. */
  readonly newRoot: bigint;
  /** Number of leaves in the tree before the append. */
  readonly startIndex: number;
  /** 1 to 64 commitments. */
  readonly leaves: readonly bigint[];
}

/**
 * Checks that there are 1 to 64 leaves and that none of them is 0.
 * @throws SottoError INVALID_LEAF, INVALID_FIELD_ELEMENT
 */
export function assertAppendLeaves(leaves: readonly bigint[]): readonly bigint[] {
  if (!Array.isArray(leaves) || leaves.length < 1 || leaves.length > MAX_APPEND_LEAVES)
    fail("INVALID_LEAF", `an append takes an array of 1 to ${MAX_APPEND_LEAVES} leaves, got ${describe(leaves)}`);
  for (const leaf of leaves) {
    if (assertField(leaf, "a leaf") === 0n) fail("INVALID_LEAF", "a leaf must not be 0: 0 is the empty leaf");
  }
  return leaves;
}

/**
 * z = keccak256(abi.encode(chain id, pool, oldRoot, newRoot, startIndex, count, leaves)) mod p, `leaves` a uint256[].
 * Hashing newRoot commits the prover to its leaves before z is known.
 */
export function appendChallenge(statement: AppendStatement): bigint {
  assertObject(statement, "an append");
  const leaves = assertAppendLeaves(statement.leaves);
  const count = BigInt(leaves.length);
  const roots = [assertField(statement.oldRoot, "oldRoot"), assertField(statement.newRoot, "newRoot")];
  const startIndex = BigInt(assertLeafIndex(statement.startIndex, "startIndex"));
  const head = [...deploymentWords(statement), ...roots, startIndex, count];
  const offset = BigInt(32 * (head.length + 1));
  return keccakToField([...head, offset, count, ...leaves]);
}

/**
 * y = oldRoot + startIndex z + sum of leaf_i z^(2 + i) mod p, with i from 0. The circuit evaluates the same polynomial
 * over its own old root, index and leaves.
 * @throws SottoError INVALID_LEAF, INVALID_FIELD_ELEMENT, INVALID_INTEGER, INVALID_ARGUMENT
 */
export function evaluateAppend(
  challenge: bigint,
  statement: Pick<AppendStatement, "oldRoot" | "startIndex" | "leaves">,
): bigint {
  assertField(challenge, "challenge");
  assertObject(statement, "an append");
  const root = assertField(statement.oldRoot, "oldRoot");
  const index = BigInt(assertLeafIndex(statement.startIndex, "startIndex"));
  const coefficients = [root, index, ...assertAppendLeaves(statement.leaves)];
  return evaluatePolynomial(coefficients, challenge);
}

/** The queue's keccak chain after adding one leaf: keccak256(abi.encode(chain, leaf)). */
export function foldQueue(chain: Bytes32, leaf: bigint): Bytes32 {
  const words = [bytesToBigInt(hexToBytes(chain, 32, "chain")), assertField(leaf, "leaf")];
  return bytesToHex(bigIntToBytes(keccakWords(words), 32));
}
