import { proveWithTrapdoor } from "@sotto/keys/setup/trapdoor";
import {
  CIRCUITS,
  type Deployment,
  PAYMENT_SIGNAL,
  paymentContext,
  withdrawalContext,
  withdrawalPublicSignals,
} from "@sotto/protocol";
import type { Random } from "@sotto/test-kit/random";

/** Chain id and pool, in the form that the protocol's functions take. */
export type Place = Deployment;

/** A payment in the form that the contract's `settle` takes. */
export interface Payment {
  proof: string[];
  signals: bigint[];
  validUntil: bigint;
  resourceDigest: string;
}

export interface PaymentFields {
  readonly root: bigint;
  readonly validUntil: bigint;
  readonly nullifier?: bigint | undefined;
  readonly commitments?: readonly [bigint, bigint];
  readonly resourceDigest?: string;
}

/** Signals of a payment: random unless given; the deadline and the resource are bound to the chain and the pool. */
export function paymentStatement(place: Place, random: Random, fields: PaymentFields): Omit<Payment, "proof"> {
  const resourceDigest = fields.resourceDigest ?? random.bytes32();
  const signals = Array.from({ length: CIRCUITS.payment.signalCount }, () => random.field());
  const at = PAYMENT_SIGNAL;
  signals[at.resourceUrl] = paymentContext({ ...place, validUntil: fields.validUntil, resourceDigest });
  signals[at.root] = fields.root;
  if (fields.nullifier !== undefined) signals[at.nullifier] = fields.nullifier;
  if (fields.commitments !== undefined)
    [signals[at.recipientCommitment], signals[at.changeCommitment]] = fields.commitments;
  return { signals, validUntil: fields.validUntil, resourceDigest };
}

/** A payment with a proof that the real verifier accepts, forged with the trapdoor of the development key. */
export function provePayment(place: Place, random: Random, fields: PaymentFields): Payment {
  const statement = paymentStatement(place, random, fields);
  return { ...statement, proof: proveWithTrapdoor("payment", statement.signals).proof };
}

/** A withdrawal as a wallet has it. The contract's `withdraw` also takes the hash of its statement. */
export interface Withdrawal {
  proof: string[];
  signals: bigint[];
  recipient: string;
  fee: bigint;
  feeRecipient: string;
  validUntil: bigint;
}

export interface WithdrawalFields {
  readonly root: bigint;
  readonly validUntil: bigint;
  readonly amount: bigint;
  /** 1 to 8 nullifiers; the remaining signals are 0. */
  readonly nullifiers: readonly bigint[];
  readonly recipient: string;
  readonly fee?: bigint;
  readonly feeRecipient?: string;
  readonly commitment?: bigint;
  /** 0 if no change is left. */
  readonly changeHint?: bigint;
}

export function proveWithdrawal(place: Place, random: Random, fields: WithdrawalFields): Withdrawal {
  const { recipient, validUntil, fee = 0n, feeRecipient = `0x${"00".repeat(20)}` } = fields;
  const context = withdrawalContext({ ...place, recipient, fee, feeRecipient, validUntil });
  const nullifiers = Array.from({ length: 8 }, (_, i) => fields.nullifiers[i] ?? 0n);
  const commitment = fields.commitment ?? random.field();
  const changeHint = fields.changeHint ?? random.field();
  const signals = [context, fields.amount, fields.root, ...nullifiers, commitment, changeHint];
  const { proof } = proveWithTrapdoor("withdrawal", withdrawalPublicSignals(signals));
  return { proof, signals, recipient, fee, feeRecipient, validUntil };
}
