import { createHash } from "node:crypto";
import { SCALAR_MODULUS } from "./field.ts";

/**
 * What every secret of the development keys is derived from. It is public on purpose: with it the keys are made in
 * seconds and come out the same on every machine, and with it anyone can prove anything. Keys for real money come from
 * a ceremony; this set is marked `development` and refused on any chain that is not local.
 */
export const DEVELOPMENT_SEED = "sotto development setup, public seed 1";
export const DEVELOPMENT_WARNING =
  "DEVELOPMENT KEYS: their secrets are public, so anyone can forge proofs under them. For local chains only.";

/** What a powers-of-tau ceremony (phase 1) destroys. Shared by all circuits, so that their proofs batch. */
export interface Phase1Secrets {
  tau: bigint;
  alpha: bigint;
  beta: bigint;
}

/** 512 bits reduced, so that no scalar is likelier than another; 0 does not occur. */
function secretScalar(seed: string, label: string): bigint {
  const digest = createHash("sha512").update(`${seed}: ${label}`).digest("hex");
  return BigInt(`0x${digest}`) % SCALAR_MODULUS;
}

export function phase1Secrets(seed = DEVELOPMENT_SEED): Phase1Secrets {
  return {
    tau: secretScalar(seed, "tau"),
    alpha: secretScalar(seed, "alpha"),
    beta: secretScalar(seed, "beta"),
  };
}

/** The public beacon (32 bytes) that a circuit's delta, its only phase 2 secret, is drawn from. */
export const deltaBeacon = (circuit: string, seed = DEVELOPMENT_SEED): Uint8Array =>
  createHash("sha256").update(`${seed}: delta of ${circuit}`).digest();
