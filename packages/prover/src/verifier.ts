import type { Artifacts } from "./artifacts/load.ts";
import type { ProvingEngine } from "./engine/engine.ts";
import { pairingHolds } from "./engine/pairing-check.ts";
import { proverError } from "./errors.ts";
import { decodeProof, decodeSignals, type ProofPoints } from "./proof/decode.ts";
import { parseVerificationKey, type VerificationKey } from "./proof/verification-key.ts";

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
 *
 * @throws SottoError VERIFICATION_KEY_INVALID
 */
export function createVerifier(from: VerifierOptions): Verifier {
  const engine: Pick<ProvingEngine, "verify"> = from.engine ?? { verify: pairingHolds };
  const keyOf = keySource(from);
  return {
    async verify(circuit, proof, signals) {
      const key = await keyOf(circuit);
      const numbers = decodeSignals(signals, key.nPublic);
      const points = decodeProof(proof);
      return engine.verify(key, points, numbers);
    },
    async warm(circuit) {
      const key = await keyOf(circuit);
      await engine.verify(key, ...exampleProof(key));
    },
  };
}

/** An invalid proof whose points are in the right groups, and its signals. Verifying it takes as long as verifying any other. */
export function exampleProof(key: VerificationKey): [ProofPoints, bigint[]] {
  const [a, b] = [pair(key.vk_alpha_1), [pair(key.vk_beta_2[0]), pair(key.vk_beta_2[1])] as const];
  return [{ a, b, c: a }, new Array<bigint>(key.nPublic).fill(1n)];
}

function pair([first, second]: readonly [string, string, ...string[]]): readonly [bigint, bigint] {
  return [BigInt(first), BigInt(second)];
}

function keySource({ artifacts, vkeys }: VerifierOptions): (circuit: string) => Promise<VerificationKey> {
  if (artifacts !== undefined && vkeys === undefined) return (circuit) => artifacts.verificationKey(circuit);
  if (artifacts !== undefined || vkeys === undefined) {
    throw proverError("ARTIFACTS_SOURCE_INVALID", "Expected exactly one of `artifacts` and `vkeys`.");
  }
  const keys = new Map(Object.entries(vkeys).map(([name, key]) => [name, parseVerificationKey(key, name)]));
  return async (circuit) => {
    const key = keys.get(circuit);
    if (key !== undefined) return key;
    const known = [...keys.keys()].join(", ");
    const message = `No verification key for circuit ${JSON.stringify(circuit)}; the known circuits are ${known}.`;
    throw proverError("CIRCUIT_UNKNOWN", message, { circuit, known });
  };
}
