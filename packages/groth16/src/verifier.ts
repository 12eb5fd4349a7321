import type { ProvingEngine } from "./engine/engine.ts";
import { pairingHolds } from "./engine/pairing-check.ts";
import { decodeProof, decodeSignals, type ProofPoints } from "./proof/decode.ts";
import type { VerificationKey } from "./proof/verification-key.ts";

/** Verifies proofs of one circuit strictly. */
export interface CircuitVerifier {
  /**
   * Whether a proof is valid for these signals.
   * @param proof eight decimal strings: a.x a.y b.x0 b.x1 b.y0 b.y1 c.x c.y
   * @param signals the public signals in the circuit's order, decimal strings
   * @throws Groth16Error PROOF_* if the proof is malformed, SIGNALS_MALFORMED, SIGNAL_RANGE; VERIFICATION_KEY_INVALID
   */
  verify(proof: readonly string[], signals: readonly string[]): Promise<boolean>;
  /** Prepares the key, so that the first verification is as fast as later ones. */
  warm(): Promise<void>;
}

/**
 * Creates a verifier of one circuit.
 * @param key from `parseVerificationKey`; any other is checked at the first verification
 * @param engine default: a pairing check with the key's constant part precomputed, once for each key object
 */
export function createCircuitVerifier(
  key: VerificationKey,
  engine: Pick<ProvingEngine, "verify"> = { verify: pairingHolds },
): CircuitVerifier {
  return {
    async verify(proof, signals) {
      const numbers = decodeSignals(signals, key.nPublic);
      const points = decodeProof(proof);
      return engine.verify(key, points, numbers);
    },
    async warm() {
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
