import type { ProofPoints } from "../proof/decode.ts";
import type { VerificationKey } from "../proof/verification-key.ts";
import type { Witness } from "../witness/calculator.ts";

/**
 * Groth16 over BN254, and nothing else: files, inputs and encodings are checked before an engine sees them. Engines may
 * keep what they prepared for a key for as long as the same object (the key's bytes) is handed in. Between calls nothing
 * of an engine keeps the process alive.
 */
export interface ProvingEngine {
  /** For progress and benchmarks. */
  readonly name: string;
  /**
   * @param zkey a proving key in snarkjs's format
   * @param witness as the calculator gives it; the engine does not check that it satisfies the circuit
   * Codes: `PROVING_KEY_INVALID`, `ENGINE_FAILED`.
   */
  prove(zkey: Uint8Array, witness: Witness): Promise<ProofPoints>;
  /** Prepares what can be prepared of a key before there is a witness. */
  warm?(zkey: Uint8Array): Promise<void>;
  /** @param proof decoded strictly: in the groups; @param signals below r, as many as the key wants */
  verify(key: VerificationKey, proof: ProofPoints, signals: readonly bigint[]): Promise<boolean>;
}
