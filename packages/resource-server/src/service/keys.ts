// The verification keys, downloaded from the service. Their hashes are pinned: the service cannot change them.
import { createHash } from "node:crypto";
import { readBody } from "@sotto/protocol";
import {
  type ArtifactsLock,
  assertAllowedOnChain,
  createVerifier,
  DEVELOPMENT_SET,
  loadArtifacts,
  lockOf,
  type Verifier,
} from "@sotto/prover";
import { PaywallError } from "../errors.ts";

export interface Limits {
  /** Total time, ms. */
  readonly timeoutMs: number;
  /** Maximum size of the body. */
  readonly maxBytes: number;
}

/**
 * Sends a request with limits on time and response size, and follows no redirects.
 * @throws Error if no complete response arrives in time
 */
export async function request(url: string, { timeoutMs, maxBytes }: Limits, init: RequestInit = {}) {
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, { ...init, redirect: "error", signal });
  return { status: response.status, body: await readBody(response, maxBytes, signal) };
}

const LIMITS = { timeoutMs: 10_000, maxBytes: 1 << 20 };
/** The circuits of a payment's two proofs. */
export const CIRCUITS = ["payment", "elgamal_range"] as const;

async function fetchKey(service: string, circuit: string, sha256: string | undefined): Promise<string> {
  const url = `${service}/verification-key/${circuit}`;
  const { status, body } = await request(url, LIMITS).catch((cause: unknown) => {
    throw new PaywallError("SERVICE_UNAVAILABLE", `${url} does not answer`, { url }, { cause });
  });
  if (status !== 200)
    throw new PaywallError("SERVICE_UNAVAILABLE", `${url} responded with status ${status}, expected 200`, {
      url,
      status,
    });
  const found = createHash("sha256").update(body).digest("hex");
  if (found !== sha256)
    throw new PaywallError(
      "KEY_NOT_PINNED",
      `the service's verification key of ${circuit} has the hash ${found}, but ${sha256} is pinned`,
      { url, found },
    );
  return new TextDecoder().decode(body);
}

/**
 * Returns the pinned hashes of the verification keys, without any request.
 * @param set the keys of the pool's verifiers; default: the development set
 * @param keys pinned hashes; default: those compiled into the prover
 * @throws PaywallError SET_MISMATCH; SottoError DEVELOPMENT_KEYS_REFUSED, ARTIFACT_SET_UNKNOWN, ARTIFACTS_LOCK_INVALID
 */
export async function readLock(
  service: string,
  { chainId, set }: { readonly chainId: bigint; readonly set: string | undefined },
  keys?: ArtifactsLock,
): Promise<ArtifactsLock> {
  const lock = keys ?? lockOf(set ?? DEVELOPMENT_SET);
  // This loads no files; it validates the lock.
  const artifacts = await loadArtifacts({ baseUrl: service, lock });
  assertAllowedOnChain(artifacts, chainId, process.env["NODE_ENV"] === "production");
  if (set !== undefined && artifacts.set !== set)
    throw new PaywallError("SET_MISMATCH", `keys is for the set ${artifacts.set}, but chain.set is ${set}`);
  return artifacts.lock;
}

/**
 * Creates a verifier for these circuits with the service's keys.
 * @throws PaywallError SERVICE_UNAVAILABLE, KEY_NOT_PINNED
 */
export async function openVerifier(
  service: string,
  { circuits }: ArtifactsLock,
  names: readonly string[],
): Promise<Verifier> {
  const vkeys = await Promise.all(
    names.map(async (name) => [name, await fetchKey(service, name, circuits[name]?.vkey)] as const),
  );
  return createVerifier({ vkeys: Object.fromEntries(vkeys) });
}
