// The checks of a decoded bundle, in the order in which `reservePayment` runs them. Each returns the refusal, or undefined if it
// passes.

import { decodeProofOnCurves } from "@sotto/groth16";
import {
  canonicalPayment,
  checkCiphertext,
  checkFreshness,
  checkOpening,
  openingOf,
  type PaymentStatement,
  type ReceivedPayment,
} from "@sotto/protocol";
import type { Config } from "../config/config.ts";
import { deploymentOf } from "../config/deployment.ts";
import { minSettleTimeMs } from "../operations/deadline.ts";
import type { PoolState, ProofVerifier } from "../ports.ts";
import type { Store } from "../store/index.ts";
import type { RetiredKeys } from "./retired-keys.ts";

/** Reasons of a failed verification. They are stable. */
export const REASONS = [
  "ARTIFACT_SET_MISMATCH",
  "INVALID_PROOF",
  "INVALID_AMOUNT_PROOF",
  "CIPHERTEXT_MISMATCH",
  "RECIPIENT_MISMATCH",
  "RESOURCE_MISMATCH",
  "TIMESTAMP_TOO_OLD",
  "TIMESTAMP_IN_FUTURE",
  "TOO_LATE_TO_SETTLE",
  "UNKNOWN_ROOT",
  "NULLIFIER_SPENT",
  "NULLIFIER_QUEUED",
  "AMOUNT_TOO_SMALL",
  "RECIPIENT_NOT_SERVED",
] as const;
/** Why a payment is not valid. */
export type Reason = (typeof REASONS)[number];

export interface Refusal {
  readonly reason: Reason;
  readonly message: string;
}

const refuse = (reason: Reason, message: string): Refusal => ({ reason, message });

/**
 * Undecodable proofs are a bad request, not a failed check, so this runs before all checks. `checkProofs` checks the subgroup
 * of the points, because that takes much longer.
 * @throws Groth16Error PROOF_*
 */
export function assertProofsDecode({ wire }: ReceivedPayment): void {
  decodeProofOnCurves(wire.proof);
  decodeProofOnCurves(wire.amountProof);
}

/** Verifies both proofs at the same time. Rejects with PROOF_NOT_IN_SUBGROUP, which is a bad request too. */
export async function checkProofs(
  { wire }: ReceivedPayment,
  proofs: ProofVerifier,
  retired: RetiredKeys,
  client: string,
): Promise<Refusal | undefined> {
  const statements: readonly Parameters<ProofVerifier["verify"]>[] = [
    ["payment", wire.proof, wire.publicSignals, client],
    ["elgamal_range", wire.amountProof, wire.amountPublicSignals, client],
  ];
  const results = await Promise.allSettled(statements.map((statement) => proofs.verify(...statement)));
  const rejected = results.find((result) => result.status === "rejected");
  if (rejected !== undefined) throw rejected.reason;
  const wrong = results.findIndex((result) => result.status === "fulfilled" && !result.value);
  if (wrong < 0) return undefined;
  if (await retired.accepts(...statements[wrong]!))
    return refuse(
      "ARTIFACT_SET_MISMATCH",
      "the proofs are made with the keys of another set; load the artifacts again",
    );
  if (wrong === 0) return refuse("INVALID_PROOF", "proof is not valid for publicSignals");
  return refuse("INVALID_AMOUNT_PROOF", "amountProof is not valid for amountPublicSignals");
}

export function checkSet(artifactSet: string | undefined, id: string): Refusal | undefined {
  if (artifactSet === undefined || artifactSet === id) return undefined;
  return refuse("ARTIFACT_SET_MISMATCH", `the service verifies with the set ${id}; load the artifacts again`);
}

/** Checks that the signals match the payment's fields and this service's chain and pool. */
export function checkMeaning(payment: PaymentStatement, config: Config): Refusal | undefined {
  const { chainId, pool } = config;
  const opening = openingOf(payment, deploymentOf(config));
  const mismatch = checkCiphertext(payment.bundle) ?? checkOpening(payment.signals, opening);
  switch (mismatch?.kind) {
    case undefined:
      return undefined;
    case "CIPHERTEXT":
      return refuse("CIPHERTEXT_MISMATCH", mismatch.message);
    case "RECIPIENT_SIGNAL":
      return refuse(
        "RECIPIENT_MISMATCH",
        "publicSignals[0] does not match recipientPublicKey, amountPublicSignals[2..3] and senderCommitment",
      );
    case "RESOURCE_SIGNAL":
      return refuse(
        "RESOURCE_MISMATCH",
        `publicSignals[1] does not match resourceUrl, timestamp and senderCommitment for chain ${chainId} and pool ${pool}`,
      );
  }
}

/** @param now ms */
export function checkTime({ bundle, validUntil }: PaymentStatement, config: Config, now: number): Refusal | undefined {
  const stale = checkFreshness(bundle.timestamp, now);
  if (stale !== undefined)
    return refuse(stale.kind === "TOO_OLD" ? "TIMESTAMP_TOO_OLD" : "TIMESTAMP_IN_FUTURE", stale.message);
  const left = Number(validUntil) * 1000 - now;
  if (left >= minSettleTimeMs(config)) return undefined;
  return refuse(
    "TOO_LATE_TO_SETTLE",
    `${left} ms are left to settle, but ${minSettleTimeMs(config)} ms are needed; pay again`,
  );
}

/** Checks the note against the service's own records, without a request to a node. */
export async function checkNote(
  payment: ReceivedPayment,
  { reservations, ledger }: Pick<Store, "reservations" | "ledger">,
): Promise<Refusal | undefined> {
  const nullifier = String(payment.signals.nullifier);
  const taken = await reservations.takenBy(nullifier, canonicalPayment(payment));
  if (taken !== undefined) return refuse(taken, "another payment of the same note is in progress or settled");
  return (await ledger.spend(nullifier)) === undefined ? undefined : refuse("NULLIFIER_SPENT", "the note is spent");
}

export async function checkChain({ signals }: PaymentStatement, pool: PoolState): Promise<Refusal | undefined> {
  const { root, nullifier } = signals;
  if (!(await pool.isKnownRoot(root)))
    return refuse("UNKNOWN_ROOT", "publicSignals[5] was never a root of the pool's tree");
  return (await pool.isSpent(nullifier)) ? refuse("NULLIFIER_SPENT", "the note is spent") : undefined;
}

export function checkPolicy({ range }: PaymentStatement, config: Config): Refusal | undefined {
  const { smallestAmount, recipients } = config;
  if (range.lowerBound < BigInt(smallestAmount))
    return refuse("AMOUNT_TOO_SMALL", `the lower bound is below the smallest amount, ${smallestAmount} base units`);
  if (recipients.length === 0) return undefined;
  // The owner is the same at the addresses of all months. A payer can name any wallet and key, but the note belongs to this
  // owner.
  const served = recipients.some(({ ownerTag }) => ownerTag === range.recipientTag);
  return served ? undefined : refuse("RECIPIENT_NOT_SERVED", "this service does not relay payments to this wallet");
}
