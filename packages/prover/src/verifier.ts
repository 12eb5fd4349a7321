import { createCircuitVerifier, type ProvingEngine, parseVerificationKey, type VerificationKey } from "@sotto/groth16";
import type { Artifacts } from "./artifacts/load.ts";
import { proverError } from "./errors.ts";

/** Verification keys by circuit: objects in snarkjs's format, as read from JSON. */
export type VerificationKeys = { readonly [circuit: string]: unknown };

/** The keys that a verifier uses. */
export interface VerifierOptions {
  /** Artifacts with the keys, which are checked against the lock. Give exactly one of `artifacts` and `vkeys`. */
  artifacts?: Artifacts | undefined;
  /** The keys themselves. */
  vkeys?: VerificationKeys | undefined;
  /** Default: a pairing check with the key's constant part precomputed. */
  engine?: ProvingEngine | undefined;
}

/** Verifies proofs strictly. */
export interface Verifier {
  /**
   * Checks a proof strictly, in the format of the wire.
   * @param proof eight decimal strings in the wire's order
   * @param signals the public signals in order, decimal strings
   * @returns whether the proof is valid for these signals
   * @throws SottoError PROOF_* if the proof is malformed, SIGNALS_MALFORMED, SIGNAL_RANGE, CIRCUIT_UNKNOWN
   */
  verify(circuit: string, proof: readonly string[], signals: readonly string[]): Promise<boolean>;
  /** Prepares the key of this circuit, so that the first verification is as fast as later ones. */
  warm(circuit: string): Promise<void>;
}

/**
 * Checks `vkeys`; keys from artifacts are checked when they are read.
 * @throws SottoError VERIFICATION_KEY_INVALID
 */
export function createVerifier(from: VerifierOptions): Verifier {
  const keyOf = keySource(from);
  const verifierOf = async (circuit: string) => createCircuitVerifier(await keyOf(circuit), from.engine);
  return {
    verify: async (circuit, proof, signals) => (await verifierOf(circuit)).verify(proof, signals),
    warm: async (circuit) => (await verifierOf(circuit)).warm(),
  };
}

function keySource({ artifacts, vkeys }: VerifierOptions): (circuit: string) => Promise<VerificationKey> {
  if (artifacts !== undefined && vkeys === undefined) return (circuit) => artifacts.verificationKey(circuit);
  if (artifacts !== undefined || vkeys === undefined)
    throw proverError("ARTIFACTS_SOURCE_INVALID", "Expected exactly one of `artifacts` and `vkeys`.");
  const keys = new Map(Object.entries(vkeys).map(([name, key]) => [name, parseVerificationKey(key, name)]));
  return async (circuit) => {
    const key = keys.get(circuit);
    if (key !== undefined) return key;
    const known = [...keys.keys()].join(", ");
    const message = `No verification key for circuit ${JSON.stringify(circuit)}; the known circuits are ${known}.`;
    throw proverError("CIRCUIT_UNKNOWN", message, { circuit, known });
  };
}
