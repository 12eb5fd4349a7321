import type { Artifacts } from "./artifacts/load.ts";
import { ARTIFACT_KINDS } from "./artifacts/lock.ts";
import type { ProvingEngine } from "./engine/engine.ts";
import { defaultEngine } from "./engine/fast-engine.ts";
import { proverError, throwIfAborted, unlessAborted } from "./errors.ts";
import { encodeProof } from "./proof/decode.ts";
import { createWitnessCalculator, type WitnessCalculator } from "./witness/calculator.ts";
import type { CircuitInput } from "./witness/input.ts";

/** A stage of proving. */
export type ProveStage = "artifacts" | "witness" | "proof" | "check" | "done";

/** Options of one proof. */
export interface ProveOptions {
  /** Aborts with the code ABORTED: immediately while files are loading, otherwise after the current stage. */
  signal?: AbortSignal | undefined;
  /** Called at the start of each stage, and with `done` at the end. */
  onProgress?: ((stage: ProveStage, circuit: string) => void) | undefined;
}

/** A proof in the wire's form: decimal strings a.x a.y b.x0 b.x1 b.y0 b.y1 c.x c.y, and the public signals in order. */
export interface Proof {
  proof: string[];
  publicSignals: string[];
}

/** The components of a prover. */
export interface ProverOptions {
  artifacts: Artifacts;
  /** Default: the fast engine if the machine supports it, else snarkjs. */
  engine?: ProvingEngine | undefined;
  /** Verifies each proof before returning it, in about 10 ms. Default: true. */
  selfCheck?: boolean | undefined;
}

/** Proves statements of the circuits. */
export interface Prover {
  readonly artifacts: Artifacts;
  readonly engine: ProvingEngine;
  /**
   * Computes the witness, proves, and verifies the new proof.
   * @param circuit a circuit's name in the artifacts' lock
   * @param input every input signal of the circuit, public and private; @sotto/protocol's prepare functions return them
   * @throws SottoError the codes of reading artifacts, INPUT_INVALID, WITNESS_REFUSED, ENGINE_FAILED,
   *   PROOF_SELF_CHECK_FAILED, ABORTED
   */
  prove(circuit: string, input: CircuitInput, options?: ProveOptions): Promise<Proof>;
  /** Reads and prepares everything for this circuit, so that the first proof is as fast as later ones. */
  warm(circuit: string): Promise<void>;
  /** Empties the caches, including the artifacts'. The prover remains usable. */
  close(): Promise<void>;
}

/**
 * Creates a prover. It loads the files of a circuit before the first proof of that circuit.
 * @param from artifacts, or options that include them
 */
export function createProver(from: Artifacts | ProverOptions): Prover {
  const { artifacts, engine = defaultEngine(), selfCheck = true } = "artifacts" in from ? from : { artifacts: from };
  let calculators = new WeakMap<Uint8Array, Promise<WitnessCalculator>>();
  const calculatorOf = (circuit: string, wasm: Uint8Array): Promise<WitnessCalculator> => {
    let calculator = calculators.get(wasm);
    if (calculator === undefined) {
      calculator = createWitnessCalculator(circuit, wasm);
      calculators.set(wasm, calculator);
    }
    return calculator;
  };
  /** Reads and checks all files before any of them is used. */
  const read = async (circuit: string) => {
    const [wasm, zkey] = await Promise.all(ARTIFACT_KINDS.map((kind) => artifacts.bytes(circuit, kind)));
    return { wasm: wasm as Uint8Array, zkey: zkey as Uint8Array, key: await artifacts.verificationKey(circuit) };
  };
  return {
    artifacts,
    engine,
    async prove(circuit, input, { signal, onProgress } = {}) {
      const begin = (stage: ProveStage): void => {
        throwIfAborted(signal);
        onProgress?.(stage, circuit);
      };
      begin("artifacts");
      // A download that is aborted here continues for other callers.
      const { wasm, zkey, key } = await unlessAborted(read(circuit), signal);
      begin("witness");
      const witness = await (await calculatorOf(circuit, wasm)).calculate(input);
      const signals = publicSignalsOf(witness, key.nPublic);
      begin("proof");
      const points = await engine.prove(zkey, witness);
      if (selfCheck) {
        begin("check");
        if (!(await engine.verify(key, points, signals))) {
          const message = `The proof just made for circuit ${circuit} does not verify, so it is not returned.`;
          throw proverError("PROOF_SELF_CHECK_FAILED", message, { circuit, engine: engine.name });
        }
      }
      begin("done");
      return { proof: encodeProof(points), publicSignals: signals.map(String) };
    },
    async warm(circuit) {
      const { wasm, zkey } = await read(circuit);
      await Promise.all([calculatorOf(circuit, wasm), engine.warm?.(zkey)]);
    },
    async close() {
      calculators = new WeakMap();
      artifacts.clear();
    },
  };
}

/** Reads elements 1 to `count` of the witness, 32 bytes each, little-endian. */
function publicSignalsOf(witness: Uint8Array, count: number): bigint[] {
  const view = new DataView(witness.buffer, witness.byteOffset, witness.byteLength);
  return Array.from({ length: count }, (_, index) => {
    let value = 0n;
    for (let word = 3; word >= 0; word--) value = (value << 64n) | view.getBigUint64(32 * (index + 1) + 8 * word, true);
    return value;
  });
}
