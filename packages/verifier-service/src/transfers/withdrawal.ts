import { randomUUID } from "node:crypto";
import { decodeProofOnCurves } from "@sotto/groth16";
import {
  parseAddress,
  parseAmount,
  parseField,
  signalsDigest,
  withdrawalContext,
  withdrawalPublicSignals,
  withdrawalSignals,
} from "@sotto/protocol";
import { traced } from "@sotto/server";
import { deploymentOf } from "../config/deployment.ts";
import { ServiceError } from "../errors.ts";
import { assertDeadline, parseSeconds } from "../operations/deadline.ts";
import { assertQueued, type RelayServices, waitForRelayed } from "../operations/enqueue.ts";
import type { Caller } from "../operations/hold.ts";
import { sponsorQuotas, takeClientQuota } from "../operations/quotas.ts";
import { shownOf } from "../payments/settle.ts";
import type { Operation } from "../store/index.ts";
import type { WithdrawRequest } from "./schemas.ts";

/**
 * Queues a withdrawal or a merge of notes, and waits for its outcome.
 * @throws ServiceError INVALID_REQUEST, CONTEXT_MISMATCH, EXPIRED, VALIDITY_TOO_LONG, FEE_TOO_SMALL, UNKNOWN_ROOT,
 * NULLIFIER_SPENT, INVALID_PROOF, NULLIFIER_QUEUED, QUOTA_EXCEEDED, and those of Admission.admit; SottoError of a
 * field that does not decode
 */
export async function relayWithdrawal(
  body: WithdrawRequest,
  caller: Caller,
  services: RelayServices,
): Promise<Operation> {
  const { config, store } = services;
  const signals = body.signals.map((signal, i) => parseField(signal, `signals[${i}]`));
  const named = withdrawalSignals(signals);
  const terms = {
    recipient: parseAddress(body.recipient, "recipient"),
    fee: parseAmount(body.fee, "fee"),
    feeRecipient: parseAddress(body.feeRecipient, "feeRecipient"),
    validUntil: parseSeconds(body.validUntil, "validUntil"),
  };
  decodeProofOnCurves(body.proof);
  const nullifiers = nullifiersOf(named.nullifiers).map(String);
  if (withdrawalContext({ ...deploymentOf(config), ...terms }) !== named.context)
    throw new ServiceError(
      "CONTEXT_MISMATCH",
      `signals[0] does not match recipient, fee, feeRecipient and validUntil for chain ${config.chainId} and pool ${config.pool}`,
    );
  const digest = signalsDigest(signals);
  const known = await store.operations.getWithdrawal(digest);
  if (known !== undefined) return waitForRelayed(known, caller, services);
  assertDeadline(terms.validUntil, "validUntil", services);
  assertFee(terms, named.amount, services);
  if (!(await services.pool.isKnownRoot(named.root)))
    throw new ServiceError("UNKNOWN_ROOT", "signals[2] was never a root of the pool's tree");
  if ((await store.ledger.spends(nullifiers)).size > 0)
    throw new ServiceError("NULLIFIER_SPENT", "one of its notes is spent");
  // As in /verify, the proof is verified last and counts for the client's quota.
  await services.admission.admit("sponsored");
  await takeClientQuota(store, config, caller.client);
  const inputs = withdrawalPublicSignals(signals).map(String);
  if (!(await services.proofs.verify("withdrawal", body.proof, inputs, caller.client)))
    throw new ServiceError("INVALID_PROOF", "the proof is not valid for signals");
  const { proof, recipient, fee, feeRecipient, validUntil } = body;
  const next = {
    id: randomUUID(),
    digest,
    call: { proof, signals: body.signals, recipient, fee, feeRecipient, validUntil },
    client: caller.client,
    validUntil: Number(terms.validUntil),
    nullifiers,
  };
  const sponsored = config.withdrawalFee === 0 ? sponsorQuotas(config, caller.client) : [];
  const step = caller.begin("withdrawal");
  const queue = async () =>
    assertQueued(await store.operations.enqueueWithdrawal({ ...next, trace: step.keep }, sponsored));
  return traced(step, async () => waitForRelayed(await queue(), caller, services), shownOf);
}

/** The nullifiers that are not 0. @throws ServiceError INVALID_REQUEST */
function nullifiersOf(all: readonly bigint[]): bigint[] {
  const used = all.filter((nullifier) => nullifier !== 0n);
  if (used.length === 0 || new Set(used).size !== used.length)
    throw new ServiceError("INVALID_REQUEST", "signals[3..10] must contain at least one nullifier and no duplicates");
  return used;
}

function assertFee(
  { fee, feeRecipient, recipient }: { fee: bigint; feeRecipient: string; recipient: string },
  amount: bigint,
  { config, relayer }: RelayServices,
): void {
  if (fee > amount) throw new ServiceError("INVALID_REQUEST", "fee is above the amount, signals[1]");
  if (amount > fee && (BigInt(recipient) === 0n || recipient === config.pool))
    throw new ServiceError("INVALID_REQUEST", "recipient must not be the zero address or the pool");
  const paid = relayer.addresses.includes(feeRecipient) ? fee : 0n;
  if (paid < BigInt(config.withdrawalFee))
    throw new ServiceError(
      "FEE_TOO_SMALL",
      `the fee to ${relayer.address} must be at least ${config.withdrawalFee} base units`,
    );
}
