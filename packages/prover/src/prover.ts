import {
  type CircuitInput,
  type CircuitProver,
  createCircuitProver,
  expandKey,
  fastEngine,
  type PreparedProof,
  type PrepareOptions,
  type Proof,
  type ProveOptions,
  type ProvingEngine,
} from "@sotto/groth16";
import { type Artifacts, provingKeyOf } from "./artifacts/load.ts";

/** The components of a prover. */
export interface ProverOptions {
  /** Files of the circuits, from `loadArtifacts`. */
  artifacts: Artifacts;
  /** Default: `fastEngine()` of @sotto/groth16. */
  engine?: ProvingEngine | undefined;
  /** Verifies each proof before returning it, in about 10 ms. Default: true. */
  selfCheck?: boolean | undefined;
}

/** Proves statements of the circuits: a `CircuitProver` of @sotto/groth16 for each circuit of the artifacts. */
export interface Prover {
  /** Files that it proves with. They are read when a proof needs them. */
  readonly artifacts: Artifacts;
  /** Computes the proofs. */
  readonly engine: ProvingEngine;
  /**
   * Computes the witness, proves, and verifies the new proof.
   * @param circuit a circuit's name in the artifacts' lock
   * @param input every input signal of the circuit, public and private; @sotto/protocol's prepare functions return them
   * @throws SottoError the codes of reading artifacts, INPUT_INVALID, WITNESS_REFUSED, ENGINE_FAILED,
   *   PROOF_SELF_CHECK_FAILED, ABORTED
   */
  prove(circuit: string, input: CircuitInput, options?: ProveOptions): Promise<Proof>;
  /**
   * Makes everything of a proof that does not depend on one public signal, and checks it. The result is finished for a
   * value of that signal in a few milliseconds. docs/protocol.md ("Prepared payments") has the argument.
   * @param input every input signal of the circuit; the free signal may be missing, its value is not used
   * @param free the name of a signal that circuits.json declares free: resourceUrl or changeHint of a payment
   * @throws SottoError the errors of `prove`, SIGNAL_NOT_FREE, PREPARE_UNSUPPORTED
   */
  prepare(circuit: string, input: CircuitInput, free: string, options?: PrepareOptions): Promise<PreparedProof>;
  /** Does the part of the circuit's first proof that needs no input, for example while the inputs are still awaited. */
  load(circuit: string): Promise<void>;
  /** Loads, and computes with the key once, so that the first proof is about as fast as later ones. */
  warm(circuit: string): Promise<void>;
  /** Empties the caches, including the artifacts'. The prover remains usable. */
  close(): Promise<void>;
}

/**
 * Creates a prover. It loads the files of a circuit before the first proof of that circuit.
 * @param from artifacts, or options that include them
 */
export function createProver(from: Artifacts | ProverOptions): Prover {
  const options = "artifacts" in from ? from : { artifacts: from };
  const { artifacts, engine = fastEngine(), selfCheck = true } = options;
  const provers = new Map<string, CircuitProver>();
  const proverOf = (circuit: string): CircuitProver => {
    const prover = provers.get(circuit) ?? createCircuitProver(filesOf(artifacts, circuit), { engine, selfCheck });
    provers.set(circuit, prover);
    return prover;
  };
  return {
    artifacts,
    engine,
    prove: async (circuit, input, options) => proverOf(circuit).prove(input, options),
    prepare: async (circuit, input, free, options) => proverOf(circuit).prepare(input, free, options),
    load: async (circuit) => proverOf(circuit).load(),
    warm: async (circuit) => proverOf(circuit).warm(),
    async close() {
      for (const prover of provers.values()) prover.close();
      artifacts.clear();
    },
  };
}

const filesOf = (artifacts: Artifacts, circuit: string) => ({
  name: circuit,
  wasm: () => artifacts.bytes(circuit, "wasm"),
  async zkey() {
    // The verification key is read at the same time, and parsed later, while the engine proves.
    const [zkey] = await Promise.all([provingKeyOf(artifacts, circuit, expandKey), artifacts.bytes(circuit, "vkey")]);
    return zkey;
  },
  verificationKey: () => artifacts.verificationKey(circuit),
});
