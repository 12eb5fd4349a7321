import { signalsDigest } from "./contexts.ts";
import { evaluatePolynomial } from "./field.ts";
import { CIRCUITS, SIGNAL_POSITIONS } from "./generated/circuits.ts";
import { bytesToBigInt, hexToBytes } from "./hex.ts";
import { keccakToField } from "./keccak.ts";
import type { WithdrawalCall } from "./payment/calls.ts";
import { DOMAIN, poseidon } from "./poseidon/hash.ts";
import { assertArray, assertField, assertObject, parseField } from "./validate.ts";

/** The argument of the contract's `withdraw`, `IShieldedPool.Withdrawal`. */
export interface WithdrawalArgument extends WithdrawalCall {
  /** Poseidon11 of the statement of `signals`, decimal. */
  statementHash: string;
}

/**
 * The signals that the withdrawal circuit computes with: amount, root, eight nullifiers, commitment.
 * @throws SottoError INVALID_ARGUMENT, INVALID_FIELD_ELEMENT
 */
function statementOf(signals: readonly bigint[]): bigint[] {
  assertArray(signals, CIRCUITS.withdrawal.signalCount, "INVALID_ARGUMENT", "the signals of a withdrawal");
  const { amount, changeHint } = SIGNAL_POSITIONS.withdrawal;
  for (const [i, signal] of signals.entries()) assertField(signal, `signals[${i}]`);
  return signals.slice(amount, changeHint);
}

/**
 * h = Poseidon11(amount, root, nullifiers, commitment): commits a prover to them before it knows the challenge.
 * @param signals the thirteen signals of a withdrawal
 * @throws SottoError INVALID_ARGUMENT, INVALID_FIELD_ELEMENT
 */
export function withdrawalStatementHash(signals: readonly bigint[]): bigint {
  return poseidon(statementOf(signals), DOMAIN.withdrawal);
}

/**
 * The public signals of a withdrawal's proof, in wire order: h, z = keccak256(h, keccak256 of the signals) mod p, and
 * y = amount + root z + sum of nullifier_i z^(2 + i) + commitment z^10 mod p.
 * @param signals the thirteen signals of a withdrawal
 * @throws SottoError INVALID_ARGUMENT, INVALID_FIELD_ELEMENT
 */
export function withdrawalPublicSignals(
  signals: readonly bigint[],
): [statementHash: bigint, challenge: bigint, evaluation: bigint] {
  const statementHash = withdrawalStatementHash(signals);
  const challenge = keccakToField([statementHash, bytesToBigInt(hexToBytes(signalsDigest(signals), 32, "digest"))]);
  return [statementHash, challenge, evaluatePolynomial(statementOf(signals), challenge)];
}

/**
 * The argument of the contract's `withdraw`.
 * @throws SottoError INVALID_ARGUMENT, INVALID_FIELD_ELEMENT if the signals do not decode
 */
export function withdrawalArgument(call: WithdrawalCall): WithdrawalArgument {
  assertObject(call, "the withdrawal");
  assertArray(call.signals, CIRCUITS.withdrawal.signalCount, "INVALID_ARGUMENT", "the signals of a withdrawal");
  const signals = call.signals.map((signal, i) => parseField(signal, `signals[${i}]`));
  return { ...call, statementHash: String(withdrawalStatementHash(signals)) };
}
