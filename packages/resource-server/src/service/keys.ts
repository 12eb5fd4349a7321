// The verification keys: whoever serves them can withhold them, and change nothing.
import { createHash } from "node:crypto";
import { readBody } from "@sotto/protocol";
import {
  type ArtifactsLock,
  assertAllowedOnChain,
  createVerifier,
  DEVELOPMENT_SET,
  loadArtifacts,
  lockOf,
  parseVerificationKey,
  type Verifier,
} from "@sotto/prover";
import { PaywallError } from "../errors.ts";

export interface Limits {
  /** ms for everything. */
  readonly timeout: number;
  /** Bytes of the body. */
  readonly size: number;
}

/**
 * A request of the paywall's own: its size and time are limited, and it follows no redirect.
 *
 * @throws Error if no complete answer arrives in time
 */
export async function request(url: string, { timeout, size }: Limits, init: RequestInit = {}) {
  const signal = AbortSignal.timeout(timeout);
  const response = await fetch(url, { ...init, redirect: "error", signal });
  return { status: response.status, body: await readBody(response, size, signal) };
}

const LIMITS = { timeout: 10_000, size: 1 << 20 };
/** Of the two proofs of a payment. */
export const CIRCUITS = ["payment", "elgamal_range"] as const;

async function fetchKey(service: string, circuit: string, sha256: string | undefined): Promise<unknown> {
  const url = `${service}/verification-key/${circuit}`;
  const { status, body } = await request(url, LIMITS).catch((cause: unknown) => {
    throw new PaywallError("SERVICE_UNAVAILABLE", `${url} does not answer`, { url }, { cause });
  });
  if (status !== 200) throw new PaywallError("SERVICE_UNAVAILABLE", `${url} answers with ${status}`, { url, status });
  const found = createHash("sha256").update(body).digest("hex");
  if (found !== sha256)
    throw new PaywallError("KEY_NOT_PINNED", `the service's key of ${circuit} is not the pinned one`, { url, found });
  return parseVerificationKey(new TextDecoder().decode(body), circuit);
}

/**
 * The hashes of the verification keys; asks nobody.
 *
 * @param place with the set of keys that the pool has
 * @param keys hashes of them; left out: those compiled into the prover
 * @throws PaywallError SET_MISMATCH; SottoError DEVELOPMENT_KEYS_REFUSED, ARTIFACT_SET_UNKNOWN, ARTIFACTS_LOCK_INVALID
 */
export async function readLock(
  service: string,
  { chainId, set }: { readonly chainId: bigint; readonly set: string | undefined },
  keys?: ArtifactsLock,
): Promise<ArtifactsLock> {
  const lock = keys ?? lockOf(set ?? DEVELOPMENT_SET);
  // Nothing is loaded here: the lock is checked.
  const artifacts = await loadArtifacts({ baseUrl: service, lock });
  assertAllowedOnChain(artifacts, chainId);
  if (set !== undefined && artifacts.set !== set)
    throw new PaywallError("SET_MISMATCH", `keys are of the set ${artifacts.set}, chain.set is ${set}`);
  return artifacts.lock;
}

/**
 * A verifier of both circuits with the service's keys.
 *
 * @throws PaywallError SERVICE_UNAVAILABLE, KEY_NOT_PINNED
 */
export async function openVerifier(service: string, { circuits }: ArtifactsLock): Promise<Verifier> {
  const vkeys = await Promise.all(
    CIRCUITS.map(async (name) => [name, await fetchKey(service, name, circuits[name]?.vkey)] as const),
  );
  return createVerifier({ vkeys: Object.fromEntries(vkeys) });
}
