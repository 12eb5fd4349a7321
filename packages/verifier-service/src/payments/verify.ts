import { randomUUID } from "node:crypto";
import { canonicalPayment, parsePayment, type ReceivedPayment, tokenClaims } from "@sotto/protocol";
import { NO_STEP, type TraceStep } from "@sotto/server";
import type { Config } from "../config/config.ts";
import { deploymentOf } from "../config/deployment.ts";
import type { Admission } from "../operations/admission.ts";
import type { Quotas } from "../operations/budget.ts";
import { takeClientQuota } from "../operations/quotas.ts";
import type { PaymentPolicies, PoolState, ProofVerifier } from "../ports.ts";
import type { Store } from "../store/index.ts";
import type { TokenIssuer } from "../token/token.ts";
import {
  assertProofsDecode,
  checkChain,
  checkMeaning,
  checkNote,
  checkPolicy,
  checkProofs,
  checkSet,
  checkTime,
  type Refusal,
} from "./checks.ts";
import type { RetiredKeys } from "./retired-keys.ts";

export interface VerifyServices {
  readonly config: Config & Quotas;
  /** Id of the artifact set whose keys verify the proofs. */
  readonly setId: string;
  readonly proofs: ProofVerifier;
  readonly retired: RetiredKeys;
  readonly pool: PoolState;
  readonly store: Pick<Store, "reservations" | "quotas" | "ledger">;
  readonly admission: Pick<Admission, "admit">;
  /** The conditions of extensions; see `OpenExtension.admit`. Undefined if no extension has one. */
  readonly policies: PaymentPolicies | undefined;
  readonly tokens: TokenIssuer;
  /** Now, ms. */
  readonly clock: () => number;
}

export type VerifyResult =
  | { readonly valid: true; readonly token: string /** Seconds. */; readonly expiresIn: number }
  | ({ readonly valid: false } & Refusal);

const MAX_TOKEN_SECONDS = 300;

/** Fields of a request beside the payment. */
export type VerifyFields = Readonly<Record<string, unknown>> & { readonly artifactSet?: string | undefined };

/** A payment that passed every check. Its note is reserved under the id until the token expires. */
export interface Reserved {
  readonly valid: true;
  readonly id: string;
  /** Seconds. */
  readonly expiresIn: number;
}

/**
 * Checks a payment and reserves its nullifier. The proofs are verified last, because all other checks are faster. Each
 * verification of proofs counts for the client's quota, even if it fails.
 * @param fields the further fields of the request, such as `artifactSet`: the set of keys that the payer claims to have used
 * @param client the id under which quotas count the client
 * @param step kept once the proofs are checked
 * @throws SottoError PROOF_*, QUOTA_EXCEEDED, CHAIN_UNAVAILABLE, STORE_UNAVAILABLE, those of Admission.admit and of extensions
 */
export async function reservePayment(
  payment: ReceivedPayment,
  fields: VerifyFields,
  client: string,
  services: VerifyServices,
  step: TraceStep = NO_STEP,
): Promise<Reserved | ({ readonly valid: false } & Refusal)> {
  assertProofsDecode(payment);
  const { config } = services;
  const refusal =
    checkSet(fields.artifactSet, services.setId) ??
    checkTime(payment, config, services.clock()) ??
    checkPolicy(payment, config) ??
    checkMeaning(payment, config) ??
    (await checkNote(payment, services.store)) ??
    (await checkChain(payment, services.pool));
  if (refusal !== undefined) return { valid: false, ...refusal };
  const release = await services.admission.admit("payment");
  try {
    const result = await reserveProven(payment, fields, client, services, step);
    if (!result.valid) release();
    return result;
  } catch (error) {
    release();
    throw error;
  }
}

/**
 * Checks a payment, reserves its nullifier and issues a token for it.
 * @param body the parsed JSON
 * @throws SottoError INVALID_BUNDLE, and those of `reservePayment`
 */
export async function verifyPayment(
  body: unknown,
  client: string,
  services: VerifyServices,
  step: TraceStep = NO_STEP,
): Promise<VerifyResult> {
  const payment = parsePayment(body);
  const result = await reservePayment(payment, body as VerifyFields, client, services, step);
  if (!result.valid) return result;
  const { id: jti, expiresIn } = result;
  const claims = { jti, ...tokenClaims(payment, deploymentOf(services.config)) };
  return { valid: true, token: await services.tokens.issue(claims, expiresIn), expiresIn };
}

/** Verifies the proofs, which counts for the client's quota, and reserves the nullifier. */
async function reserveProven(
  payment: ReceivedPayment,
  fields: VerifyFields,
  client: string,
  services: VerifyServices,
  step: TraceStep,
) {
  await takeClientQuota(services.store, services.config, client);
  // At the same time, so that the proofs that an extension checks are in one batch with those of the payment.
  const proofs = checkProofs(payment, services.proofs, services.retired, client);
  const admitted = admit(payment, fields, client, services);
  // If the proofs fail, nobody waits for it.
  admitted.catch(() => undefined);
  const refusal = await proofs;
  if (refusal !== undefined) return { valid: false as const, ...refusal };
  await admitted;
  return reserve(payment, client, services, step);
}

/** Asks the extensions, unless they have admitted this payment before. @throws the errors of extensions */
async function admit(payment: ReceivedPayment, fields: VerifyFields, client: string, services: VerifyServices) {
  const { policies } = services;
  if (policies === undefined) return;
  const { bundle, signals, range } = payment;
  const { nullifier } = signals;
  const known = await services.store.reservations.ofBundle(String(nullifier), canonicalPayment(payment));
  if (known !== undefined) return;
  const { recipientPublicKey: wallet, timestamp } = bundle;
  await policies.admit({ nullifier, wallet, ownerTag: range.recipientTag, timestamp, client }, fields);
}

async function reserve(payment: ReceivedPayment, client: string, services: VerifyServices, step: TraceStep) {
  const { bundle, signals, digest, validUntil } = payment;
  const now = services.clock();
  const expiresIn = Math.min(MAX_TOKEN_SECONDS, Math.floor(Number(validUntil) - now / 1000));
  const result = await services.store.reservations.reserve({
    id: randomUUID(),
    nullifier: String(signals.nullifier),
    digest,
    bundle: canonicalPayment(payment),
    expiresAt: now + expiresIn * 1000,
    validUntil: Number(validUntil),
    recipient: bundle.recipientPublicKey,
    client,
    trace: step.keep(),
  });
  if (result.kind !== "taken") return { valid: true as const, id: result.id, expiresIn };
  const message = "another payment of the same note is in progress or settled";
  return { valid: false as const, reason: result.reason, message };
}
