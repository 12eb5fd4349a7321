import { randomUUID } from "node:crypto";
import { resourceHash } from "@sotto/protocol";
import type { Config } from "../config/config.ts";
import type { Admission } from "../operations/admission.ts";
import type { Quotas } from "../operations/budget.ts";
import { takeClientQuota } from "../operations/quotas.ts";
import type { PoolState, ProofVerifier } from "../ports.ts";
import type { Store } from "../store/index.ts";
import type { TokenIssuer } from "../token/token.ts";
import { type Bundle, canonicalJson, RANGE_SIGNAL, readBundle } from "./bundle.ts";
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
  readonly tokens: TokenIssuer;
  /** Now, ms. */
  readonly clock: () => number;
}

export type VerifyResult =
  | { readonly valid: true; readonly token: string /** Seconds. */; readonly expiresIn: number }
  | ({ readonly valid: false } & Refusal);

const MAX_TOKEN_SECONDS = 300;

/** A bundle that passed every check. Its note is reserved under the id until the token expires. */
export interface Reserved {
  readonly valid: true;
  readonly id: string;
  /** Seconds. */
  readonly expiresIn: number;
  readonly bundle: Bundle;
}

/**
 * Checks a bundle and reserves its nullifier. The proofs are verified last, because all other checks are faster. Each
 * verification of proofs counts for the client's quota, also if it fails.
 * @param body the parsed JSON
 * @param client the id under which quotas count the client
 * @throws SottoError INVALID_BUNDLE, PROOF_*, QUOTA_EXCEEDED, CHAIN_UNAVAILABLE, STORE_UNAVAILABLE, and those of
 * Admission.admit
 */
export async function reserveBundle(
  body: unknown,
  client: string,
  services: VerifyServices,
): Promise<Reserved | ({ readonly valid: false } & Refusal)> {
  const bundle = readBundle(body);
  assertProofsDecode(bundle);
  const { config } = services;
  const { artifactSet } = body as { artifactSet?: string };
  const refusal =
    checkSet(artifactSet, services.setId) ??
    checkTime(bundle, config, services.clock()) ??
    checkPolicy(bundle, config) ??
    checkMeaning(bundle, config) ??
    (await checkNote(bundle, services.store)) ??
    (await checkChain(bundle, services.pool));
  if (refusal !== undefined) return { valid: false, ...refusal };
  const release = await services.admission.admit("payment");
  try {
    const result = await reserveProven(bundle, client, services);
    if (!result.valid) release();
    return result;
  } catch (error) {
    release();
    throw error;
  }
}

/** Checks a bundle, reserves its nullifier and issues a token. Throws as `reserveBundle` does. */
export async function verifyBundle(body: unknown, client: string, services: VerifyServices): Promise<VerifyResult> {
  const result = await reserveBundle(body, client, services);
  if (!result.valid) return result;
  const { id, expiresIn, bundle } = result;
  return { valid: true, token: await issueToken(id, expiresIn, bundle, services), expiresIn };
}

/** Verifies the proofs, which counts for the client's quota, and reserves the nullifier. */
async function reserveProven(bundle: Bundle, client: string, services: VerifyServices) {
  await takeClientQuota(services.store, services.config, client);
  const wrong = await checkProofs(bundle, services.proofs, services.retired);
  if (wrong !== undefined) return { valid: false as const, ...wrong };
  return reserve(bundle, client, services);
}

async function reserve(bundle: Bundle, client: string, services: VerifyServices) {
  const { decoded, digest, validUntil } = bundle;
  const now = services.clock();
  const expiresIn = Math.min(MAX_TOKEN_SECONDS, Math.floor(Number(validUntil) - now / 1000));
  const result = await services.store.reservations.reserve({
    id: randomUUID(),
    nullifier: String(bundle.nullifier),
    digest,
    bundle: canonicalJson(bundle),
    expiresAt: now + expiresIn * 1000,
    validUntil: Number(validUntil),
    recipient: decoded.recipientPublicKey,
    client,
  });
  if (result.kind !== "taken") return { valid: true as const, id: result.id, expiresIn, bundle };
  const message = "another payment of the same note is under way or settled";
  return { valid: false as const, reason: result.reason, message };
}

function issueToken(jti: string, expiresIn: number, bundle: Bundle, services: VerifyServices): Promise<string> {
  const { decoded, digest, validUntil } = bundle;
  return services.tokens.issue(
    {
      jti,
      digest,
      chainId: String(services.config.chainId),
      pool: services.config.pool,
      recipient: decoded.recipientPublicKey,
      recipientKey: String(decoded.amountPublicSignals[RANGE_SIGNAL.recipientKey]),
      recipientTag: String(decoded.amountPublicSignals[RANGE_SIGNAL.recipientTag]),
      resourceHash: resourceHash(decoded.resourceUrl),
      senderCommitment: String(decoded.senderCommitment),
      nullifier: String(bundle.nullifier),
      timestamp: decoded.timestamp,
      validUntil: Number(validUntil),
    },
    expiresIn,
  );
}
