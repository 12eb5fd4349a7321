import type { ProvingEngine } from "./engine/engine.ts";
import { fastEngine } from "./engine/fast-engine.ts";
import { groth16Error, ofCircuit, throwIfAborted, unlessAborted } from "./errors.ts";
import type { KeyBytes } from "./fast/key-bytes.ts";
import { SCALAR_BYTES } from "./fast/layout.ts";
import type { Witness } from "./fast/parts.ts";
import { parseZkey } from "./fast/zkey.ts";
import { type FreeConstants, freeConstants } from "./prepared/constants.ts";
import { COMPARED_VALUE, elementAt, findFreeSignal } from "./prepared/free-signal.ts";
import { createPreparedProof, MAX_PREPARED_MS, type PreparedProof, type Proof } from "./prepared/prepared-proof.ts";
import { prepareState, stateHolds, wipeState } from "./prepared/state.ts";
import { encodeProof } from "./proof/decode.ts";
import type { VerificationKey } from "./proof/verification-key.ts";
import { exampleProof } from "./verifier.ts";
import { createWitnessCalculator } from "./witness/calculator.ts";
import type { CircuitInput } from "./witness/input.ts";

/** A stage of proving: reading the circuit's files, computing the witness, proving, verifying the proof. */
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

/**
 * The files of one circuit, as circom and snarkjs write them. Each is read when it is first needed and kept until `close`;
 * after a failure, the next call reads it again.
 */
export interface CircuitFiles {
  /** The circuit's name in errors and progress reports. */
  readonly name: string;
  /** Reads the witness generator, a .wasm file of circom 2. */
  wasm(): Promise<Uint8Array>;
  /**
   * Reads the proving key, a .zkey file. Another key could reveal the witnesses of later proofs: compare its hash.
   * Under Node, bytes in a SharedArrayBuffer are not copied for the second thread.
   */
  zkey(): Promise<Uint8Array>;
  /** Reads the verification key; see `parseVerificationKey`. */
  verificationKey(): Promise<VerificationKey>;
}

/** The components of a prover. */
export interface CircuitProverOptions {
  /** Default: `fastEngine()`. */
  engine?: ProvingEngine | undefined;
  /** Verifies each proof before returning it, in a few milliseconds. Default: true. */
  selfCheck?: boolean | undefined;
}

/** Proves statements of one circuit. */
export interface CircuitProver {
  /**
   * Computes the witness, proves, and verifies the new proof.
   * @param input every input signal of the circuit, public and private
   * @throws Groth16Error INPUT_INVALID, WITNESS_REFUSED, WITNESS_GENERATOR_INVALID, PROVING_KEY_INVALID, CIRCUIT_TOO_LARGE,
   *   ENGINE_FAILED, ENGINE_UNSUPPORTED, PROOF_SELF_CHECK_FAILED, ABORTED; and what reading the files throws
   */
  prove(input: CircuitInput, options?: ProveOptions): Promise<Proof>;
  /**
   * Makes everything of a proof that does not depend on one public signal, and checks it. The result is finished for a
   * value of that signal in a few milliseconds. A prepared proof can be finished for any value.
   * @param input every input signal of the circuit; the free signal may be missing, its value is not used
   * @param free the name of a public signal that occurs only in a constraint with its own square
   * @throws Groth16Error the errors of `prove`, SIGNAL_NOT_FREE, PREPARE_UNSUPPORTED
   */
  prepare(input: CircuitInput, free: string, options?: PrepareOptions): Promise<PreparedProof>;
  /**
   * Does the part of the first proof that needs no input: reads the files, compiles the witness generator and prepares the
   * proving key. It is no additional work, so it can run while the inputs are still awaited, such as from the network.
   */
  load(): Promise<void>;
  /** Loads, and computes with the key once, so that the first proof is about as fast as later ones. */
  warm(): Promise<void>;
  /** Forgets the files and what was prepared from them. The prover remains usable. */
  close(): void;
}

/** Creates a prover for one circuit. */
export function createCircuitProver(
  files: CircuitFiles,
  { engine = fastEngine(), selfCheck = true }: CircuitProverOptions = {},
): CircuitProver {
  return proverOf(files, engine, selfCheck);
}

/** The files of one circuit, with the proving key as an engine takes it. */
interface FilesFor<Key> extends Omit<CircuitFiles, "zkey"> {
  zkey(): Promise<Key>;
}

/** Creates a prover with any engine. */
export function proverOf<Key extends KeyBytes>(
  files: FilesFor<Key>,
  engine: ProvingEngine<Key>,
  selfCheck: boolean,
): CircuitProver {
  const { name } = files;
  const calculator = remembered(async () => createWitnessCalculator(name, await files.wasm()));
  const provingKey = remembered(() => files.zkey());
  const verificationKey = remembered(() => files.verificationKey());
  /** By free signal. */
  let constants = new Map<string, Promise<FreeConstants>>();
  /** Reads the proving key, and begins to prepare it; a failure of that is thrown where its result is needed. */
  const readProvingKey = async (): Promise<Key> => {
    const zkey = await provingKey.get();
    engine.warm?.(zkey).catch(() => undefined);
    return zkey;
  };
  /** Reads the files. The verification key is left to the caller: parsing it can wait until an engine proves. */
  const read = async (): Promise<Key> => {
    const [zkey] = await Promise.all([readProvingKey(), calculator.get()]);
    return zkey;
  };
  const load = async () => {
    engine.start?.();
    const zkey = await read();
    const [key] = await Promise.all([verificationKey.get(), engine.warm?.(zkey)]);
    if (selfCheck) await engine.prepareVerification?.(key);
    return { zkey, key };
  };
  return {
    async prepare(input, free, { signal, onProgress, idleMs = MAX_PREPARED_MS } = {}) {
      const sums = engine.sums?.bind(engine);
      if (sums === undefined) {
        const message = `The engine ${engine.name} cannot prepare proofs, because it does not give access to their parts.`;
        throw groth16Error("PREPARE_UNSUPPORTED", message, { engine: engine.name });
      }
      if (!Number.isSafeInteger(idleMs) || idleMs < 1 || idleMs > MAX_PREPARED_MS) {
        const message = `idleMs is ${idleMs}, expected an integer from 1 to ${MAX_PREPARED_MS}.`;
        throw groth16Error("INPUT_INVALID", message, { idleMs });
      }
      const begin = async (stage: ProveStage): Promise<void> => {
        await pause(signal);
        onProgress?.(stage, name);
      };
      await begin("artifacts");
      engine.start?.();
      const known = constants;
      const zkey = await unlessAborted(read(), signal);
      const key = await verificationKey.get();
      await begin("witness");
      const generator = await calculator.get();
      const witness = await generator.calculate({ ...input, [free]: 0n });
      try {
        const compute = async (): Promise<FreeConstants> => {
          const other = await generator.calculate({ ...input, [free]: COMPARED_VALUE });
          try {
            const found = findFreeSignal(name, free, witness, other, key.nPublic);
            return await freeConstants(name, { sums }, zkey, key, found);
          } finally {
            other.fill(0);
          }
        };
        const computed = known.get(free) ?? compute();
        known.set(free, computed);
        computed.catch(() => {
          if (known.get(free) === computed) known.delete(free);
        });
        const own = await computed;
        await begin("proof");
        const state = await prepareState({ sums }, zkey, own, witness, () => pause(signal));
        const signals = publicSignalsOf(witness, key.nPublic);
        try {
          await begin("check");
          if (!(await stateHolds(own, key, state, signals))) {
            const message = `The proof just prepared${ofCircuit(name, "for")} would not verify, so it is not kept.`;
            throw groth16Error("PROOF_SELF_CHECK_FAILED", message, { circuit: name, engine: engine.name });
          }
          await begin("done");
        } catch (error) {
          wipeState(own, state);
          throw error;
        }
        return createPreparedProof(name, own, state, signals, idleMs);
      } finally {
        witness.fill(0);
      }
    },
    async prove(input, { signal, onProgress } = {}) {
      const begin = (stage: ProveStage): void => {
        throwIfAborted(signal);
        onProgress?.(stage, name);
      };
      begin("artifacts");
      engine.start?.();
      let isOver = false;
      // The witness needs only the generator, so it is computed while the proving key is still read or downloaded.
      const computing = calculator.get().then((generator) => (isOver ? new Uint8Array(0) : generator.calculate(input)));
      computing.catch(() => undefined);
      try {
        const reading = readProvingKey();
        // A refused input is reported while the key may still be read. A download that is aborted here continues for other
        // callers.
        const zkey = await unlessAborted(Promise.race([reading, computing.then(() => reading)]), signal);
        begin("witness");
        const witness = await computing;
        return await provenWitness(
          { name, engine, selfCheck, verificationKey: verificationKey.get },
          zkey,
          witness,
          begin,
        );
      } finally {
        isOver = true;
        computing.then((witness) => witness.fill(0)).catch(() => undefined);
      }
    },
    async load() {
      await load();
    },
    async warm() {
      const { zkey, key } = await load();
      await engine.rehearse?.(zkey);
      await engine.verify(key, ...exampleProof(key));
    },
    close() {
      for (const file of [calculator, provingKey, verificationKey]) file.forget();
      constants = new Map();
    },
  };
}

interface Remembered<T> {
  get(): Promise<T>;
  forget(): void;
}

/** Makes a value once, when it is first asked for. Failures are not kept, so that the next call tries again. */
function remembered<T>(make: () => Promise<T>): Remembered<T> {
  let made: Promise<T> | undefined;
  const forget = (): void => {
    made = undefined;
  };
  return {
    get() {
      if (made !== undefined) return made;
      const making = (async () => make())();
      made = making;
      making.catch(() => {
        if (made === making) forget();
      });
      return making;
    },
    forget,
  };
}

/** Preparing can wait: other events of this thread are handled first. @throws Groth16Error ABORTED */
async function pause(signal: AbortSignal | undefined): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
  throwIfAborted(signal);
}

/** What proves a witness. */
interface WitnessProver<Key> {
  /** The circuit's, for messages. */
  readonly name: string;
  readonly engine: ProvingEngine<Key>;
  readonly selfCheck: boolean;
  /** Asked for only with `selfCheck`. */
  verificationKey(): Promise<VerificationKey>;
}

/**
 * Proves a witness, and verifies the proof.
 * @param witness as long as the proving key says
 * @param begin called at the start of each stage; what it throws ends the proof
 * @throws Groth16Error PROVING_KEY_INVALID, CIRCUIT_TOO_LARGE, ENGINE_FAILED, ENGINE_UNSUPPORTED, PROOF_SELF_CHECK_FAILED; and what
 *   reading the key throws
 */
export async function provenWitness<Key extends KeyBytes>(
  { name, engine, selfCheck, verificationKey }: WitnessProver<Key>,
  zkey: Key,
  witness: Witness,
  begin: (stage: ProveStage) => void,
): Promise<Proof> {
  begin("proof");
  // If preparing the key has failed, `prove` tries again and throws.
  const proving = engine.prove(zkey, witness);
  proving.catch(() => undefined);
  // While this thread prepares to check the proof, the engine's second thread already works.
  const key = selfCheck ? await verificationKey() : undefined;
  if (key !== undefined) await engine.prepareVerification?.(key);
  const points = await proving;
  const signals = publicSignalsOf(witness, key?.nPublic ?? parseZkey(zkey).publicSignals);
  if (key !== undefined) {
    begin("check");
    if (!(await engine.verify(key, points, signals))) {
      const message =
        `The proof just made${ofCircuit(name, "for")} does not verify, so it is not returned: the files belong to different ` +
        "circuits, or the witness does not satisfy the circuit.";
      throw groth16Error("PROOF_SELF_CHECK_FAILED", message, { circuit: name, engine: engine.name });
    }
  }
  begin("done");
  return { proof: encodeProof(points), publicSignals: signals.map(String) };
}

/** Reads elements 1 to `count` of the witness. @throws Groth16Error PROOF_SELF_CHECK_FAILED if it has fewer */
function publicSignalsOf(witness: Uint8Array, count: number): bigint[] {
  const elements = witness.byteLength / SCALAR_BYTES;
  if (count >= elements) {
    const message = `The verification key is of another circuit: it has ${count} public signals, but the witness ${elements} elements.`;
    throw groth16Error("PROOF_SELF_CHECK_FAILED", message, { expected: count, found: elements });
  }
  return Array.from({ length: count }, (_, index) => elementAt(witness, index + 1));
}
