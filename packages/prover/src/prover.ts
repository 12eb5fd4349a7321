import { type Artifacts, provingKeyOf } from "./artifacts/load.ts";
import type { ProvingEngine } from "./engine/engine.ts";
import { defaultEngine } from "./engine/fast-engine.ts";
import { proverError, throwIfAborted, unlessAborted } from "./errors.ts";
import { type FreeConstants, freeConstants } from "./prepared/constants.ts";
import { COMPARED_VALUE, elementAt, findFreeSignal } from "./prepared/free-signal.ts";
import { createPreparedProof, MAX_PREPARED_MS, type PreparedProof } from "./prepared/prepared-proof.ts";
import { prepareState, stateHolds, wipeState } from "./prepared/state.ts";
import { encodeProof } from "./proof/decode.ts";
import { exampleProof } from "./verifier.ts";
import { createWitnessCalculator, type WitnessCalculator } from "./witness/calculator.ts";
import type { CircuitInput } from "./witness/input.ts";

/** A stage of proving. */
export type ProveStage = "artifacts" | "witness" | "proof" | "check" | "done";

/** Options of one proof. */
export interface ProveOptions {
  /** Aborts with the code ABORTED: immediately while files are loading, otherwise after the current stage. */
  signal?: AbortSignal | undefined;
  /** Called at the start of each stage, and with `done` at the end. The witness may be ready before its stage starts. */
  onProgress?: ((stage: ProveStage, circuit: string) => void) | undefined;
}

/** Options of preparing one proof. */
export interface PrepareOptions extends ProveOptions {
  /** Milliseconds after which the prepared proof is wiped. Default and maximum: 900,000. */
  idleMs?: number | undefined;
}

/** A proof in the wire's form: decimal strings a.x a.y b.x0 b.x1 b.y0 b.y1 c.x c.y, and the public signals in order. */
export interface Proof {
  /** Eight decimal strings, each below the order of the base field. */
  proof: string[];
  /** Field elements in wire order, decimal. */
  publicSignals: string[];
}

/** The components of a prover. */
export interface ProverOptions {
  /** Files of the circuits, from `loadArtifacts`. */
  artifacts: Artifacts;
  /** Default: the fast engine if the machine supports it, else snarkjs. */
  engine?: ProvingEngine | undefined;
  /** Verifies each proof before returning it, in about 10 ms. Default: true. */
  selfCheck?: boolean | undefined;
}

/** Proves statements of the circuits. */
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
  /**
   * Does the part of the first proof that needs no input: reads the files, compiles the witness generator and prepares the
   * proving key. It is no additional work, so it can run while the inputs are still awaited, such as from the network.
   */
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
  /**
   * Reads and checks all files. Compiling the generator and preparing the proving key begin as soon as the file of each is
   * checked; a failure of either is thrown where its result is needed. Parsing the verification key is left to the caller.
   */
  const read = async (circuit: string) => {
    const ignore = (): void => undefined;
    const [wasm, zkey] = await Promise.all([
      artifacts.bytes(circuit, "wasm").then((wasm) => {
        calculatorOf(circuit, wasm).catch(ignore);
        return wasm;
      }),
      provingKeyOf(artifacts, circuit).then((zkey) => {
        engine.warm?.(zkey).catch(ignore);
        return zkey;
      }),
      artifacts.bytes(circuit, "vkey"),
    ]);
    return { wasm, zkey };
  };
  const load = async (circuit: string) => {
    engine.start?.();
    const { wasm, zkey } = await read(circuit);
    const [key] = await Promise.all([
      artifacts.verificationKey(circuit),
      calculatorOf(circuit, wasm),
      engine.warm?.(zkey),
    ]);
    if (selfCheck) await engine.prepareVerification?.(key);
    return { zkey, key };
  };
  /** By proving key and free signal. */
  let constants = new WeakMap<Uint8Array, Map<string, Promise<FreeConstants>>>();
  const constantsOf = (zkey: Uint8Array, free: string, compute: () => Promise<FreeConstants>) => {
    const known = constants.get(zkey) ?? new Map<string, Promise<FreeConstants>>();
    constants.set(zkey, known);
    let promise = known.get(free);
    if (promise === undefined) {
      promise = compute();
      known.set(free, promise);
      promise.catch(() => known.delete(free));
    }
    return promise;
  };
  return {
    artifacts,
    engine,
    async prepare(circuit, input, free, { signal, onProgress, idleMs = MAX_PREPARED_MS } = {}) {
      const sums = engine.sums?.bind(engine);
      if (sums === undefined) {
        const message = `The engine ${engine.name} cannot prepare proofs, because it does not give access to their parts.`;
        throw proverError("PREPARE_UNSUPPORTED", message, { engine: engine.name });
      }
      if (!Number.isSafeInteger(idleMs) || idleMs < 1 || idleMs > MAX_PREPARED_MS) {
        const message = `idleMs is ${idleMs}, expected an integer from 1 to ${MAX_PREPARED_MS}.`;
        throw proverError("INPUT_INVALID", message, { idleMs });
      }
      const begin = async (stage: ProveStage): Promise<void> => {
        await pause(signal);
        onProgress?.(stage, circuit);
      };
      await begin("artifacts");
      engine.start?.();
      const { wasm, zkey } = await unlessAborted(read(circuit), signal);
      const key = await artifacts.verificationKey(circuit);
      await begin("witness");
      const calculator = await calculatorOf(circuit, wasm);
      // The contract recomputes the signal as a hash, so a proof for 0 pays nobody.
      const witness = await calculator.calculate({ ...input, [free]: 0n });
      try {
        const compute = async (): Promise<FreeConstants> => {
          const other = await calculator.calculate({ ...input, [free]: COMPARED_VALUE });
          try {
            const found = findFreeSignal(circuit, free, witness, other, key.nPublic);
            return await freeConstants(circuit, { sums }, zkey, key, found);
          } finally {
            other.fill(0);
          }
        };
        const own = await constantsOf(zkey, free, compute);
        await begin("proof");
        const state = await prepareState({ sums }, zkey, own, witness, () => pause(signal));
        const signals = publicSignalsOf(witness, key.nPublic);
        try {
          await begin("check");
          if (!(await stateHolds(own, key, state, signals))) {
            const message = `The proof just prepared for circuit ${circuit} would not verify, so it is not kept.`;
            throw proverError("PROOF_SELF_CHECK_FAILED", message, { circuit, engine: engine.name });
          }
          await begin("done");
        } catch (error) {
          wipeState(own, state);
          throw error;
        }
        return createPreparedProof(circuit, own, state, signals, idleMs);
      } finally {
        witness.fill(0);
      }
    },
    async prove(circuit, input, { signal, onProgress } = {}) {
      const begin = (stage: ProveStage): void => {
        throwIfAborted(signal);
        onProgress?.(stage, circuit);
      };
      begin("artifacts");
      engine.start?.();
      let isOver = false;
      // The witness needs only the generator, so it is computed while the proving key is still read or downloaded.
      const computing = artifacts
        .bytes(circuit, "wasm")
        .then((wasm) => calculatorOf(circuit, wasm))
        .then((calculator) => (isOver ? new Uint8Array(0) : calculator.calculate(input)));
      computing.catch(() => undefined);
      try {
        const reading = read(circuit);
        // A refused input is reported while the key may still be read. A download that is aborted here continues for other
        // callers.
        const { zkey } = await unlessAborted(Promise.race([reading, computing.then(() => reading)]), signal);
        begin("witness");
        const witness = await computing;
        begin("proof");
        // If preparing the key has failed, `prove` tries again and throws.
        const proving = engine.prove(zkey, witness);
        proving.catch(() => undefined);
        // While this thread prepares to check the proof, the engine's second thread already works.
        const key = await artifacts.verificationKey(circuit);
        if (selfCheck) await engine.prepareVerification?.(key);
        const points = await proving;
        const signals = publicSignalsOf(witness, key.nPublic);
        if (selfCheck) {
          begin("check");
          if (!(await engine.verify(key, points, signals))) {
            const message = `The proof just made for circuit ${circuit} does not verify, so it is not returned.`;
            throw proverError("PROOF_SELF_CHECK_FAILED", message, { circuit, engine: engine.name });
          }
        }
        begin("done");
        return { proof: encodeProof(points), publicSignals: signals.map(String) };
      } finally {
        isOver = true;
        computing.then((witness) => witness.fill(0)).catch(() => undefined);
      }
    },
    async load(circuit) {
      await load(circuit);
    },
    async warm(circuit) {
      const { zkey, key } = await load(circuit);
      await engine.rehearse?.(zkey);
      await engine.verify(key, ...exampleProof(key));
    },
    async close() {
      calculators = new WeakMap();
      constants = new WeakMap();
      artifacts.clear();
    },
  };
}

/** Preparing can wait: other events of this thread are handled first. @throws SottoError ABORTED */
async function pause(signal: AbortSignal | undefined): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
  throwIfAborted(signal);
}

/** Reads elements 1 to `count` of the witness. */
function publicSignalsOf(witness: Uint8Array, count: number): bigint[] {
  return Array.from({ length: count }, (_, index) => elementAt(witness, index + 1));
}
