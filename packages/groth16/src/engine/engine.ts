import type { Part, Sums, Witness } from "../fast/parts.ts";
import type { ProofPoints } from "../proof/decode.ts";
import type { VerificationKey } from "../proof/verification-key.ts";

/**
 * Groth16 over BN254. The caller must have checked files, inputs and encodings. An engine may cache data that it
 * prepares for a key, by the identity of the key's byte array. Between calls, an engine does not keep the process
 * alive.
 * @typeParam Key how the engine takes a proving key; default: its bytes
 */
export interface ProvingEngine<Key = Uint8Array> {
  /** The engine's name in progress reports and benchmarks. */
  readonly name: string;
  /**
   * Proves a witness.
   * @param zkey a proving key in snarkjs's format
   * @param witness from the calculator; the engine does not check that it satisfies the circuit
   * @throws Groth16Error PROVING_KEY_INVALID, ENGINE_FAILED
   */
  prove(zkey: Key, witness: Witness): Promise<ProofPoints>;
  /**
   * The sums of a key's bases times a witness, of which a proof without blinding consists. Only engines that have this
   * method can prepare proofs.
   * @param parts the sums to compute
   */
  sums?(zkey: Key, witness: Witness, parts: readonly Part[]): Promise<Sums>;
  /** Begins what does not depend on a key, such as starting a thread, and returns at once. Never throws. */
  start?(): void;
  /** Prepares a key in advance, before there is a witness. */
  warm?(zkey: Key): Promise<void>;
  /** Computes what verification needs of the key, in advance. */
  prepareVerification?(key: VerificationKey): Promise<void>;
  /** Computes with the key once and discards the result, so that the runtime has optimized the code before the first proof. */
  rehearse?(zkey: Key): Promise<void>;
  /**
   * Whether a proof is valid for these signals.
   * @param proof decoded strictly: its points are in the groups
   * @param signals below r, as many as the key has
   */
  verify(key: VerificationKey, proof: ProofPoints, signals: readonly bigint[]): Promise<boolean>;
}
