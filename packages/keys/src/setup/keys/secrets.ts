import { createHash } from "node:crypto";
import { SCALAR_MODULUS } from "./field.ts";

/**
 * All secrets of the development keys are derived from this seed. It is deliberately public: the keys take seconds to
 * make and are the same on every machine, but anyone can forge proofs under them. Keys for real money come from a
 * ceremony; this set is marked `development` and rejected on any chain that is not local.
 */
export const DEVELOPMENT_SEED = "sotto development setup, public seed 1";
export const DEVELOPMENT_WARNING =
  "DEVELOPMENT KEYS: their secrets are public, so anyone can forge proofs under them. For local chains only.";

/** The secrets of phase 1, which a ceremony destroys. All circuits share them, so that their proofs can be batched. */
export interface Phase1Secrets {
  tau: bigint;
  alpha: bigint;
  beta: bigint;
}

/** Reduces 512 bits, so that the scalar's bias is negligible. It is never 0. */
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

/** The public beacon, 32 bytes, from which a circuit's delta is derived, the only secret of phase 2. */
export const deltaBeacon = (circuit: string, seed = DEVELOPMENT_SEED): Uint8Array =>
  createHash("sha256").update(`${seed}: delta of ${circuit}`).digest();
