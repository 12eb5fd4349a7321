/**
 * The functions of snarkjs's `groth16` with its signatures and formats, on this package's engine. The README says where they are
 * stricter.
 */
import type { ProvingEngine } from "../engine/engine.ts";
import { engineOfFiles, type KeyFile } from "../engine/fast-engine.ts";
import { batchHolds } from "../engine/pairing-check.ts";
import { Groth16Error, throwIfAborted } from "../errors.ts";
import { SCALAR_BYTES } from "../fast/layout.ts";
import { parseZkey } from "../fast/zkey.ts";
import { decodeProof, decodeSignals, type ProofPoints } from "../proof/decode.ts";
import { parseVerificationKey, type VerificationKey } from "../proof/verification-key.ts";
import { type CircuitProver, type ProveStage, provenWitness, proverOf } from "../prover.ts";
import { createCircuitVerifier } from "../verifier.ts";
import { invalidFile, parseWtns } from "../witness/wtns.ts";
import { verificationKeyOf } from "../zkey-verification-key.ts";
import { isDownloaded, readGenerator, withWitness, type ZKArtifact } from "./files.ts";
import { readKey } from "./key-file.ts";
import { type Groth16Proof, type PublicSignals, signalTexts, toCallData, toProofJson, wordsOf } from "./proof-json.ts";
import { type CircuitSignals, parseSignals } from "./signals.ts";
import { usesOneThread } from "./threads.ts";

/** Options of one proof. */
export interface Groth16Options {
  /** Aborts with the code ABORTED: immediately while files are read, otherwise after the current stage. */
  readonly signal?: AbortSignal | undefined;
  /** Called at the start of each stage, and with `done` at the end. */
  readonly onProgress?: ((stage: ProveStage) => void) | undefined;
  /** Uses no other thread. Default: false; under Node, a small key is proved on one thread in any case. */
  readonly singleThread?: boolean | undefined;
  /** Verifies the proof with the key in the .zkey file before returning it, in a few milliseconds. Default: true. */
  readonly selfCheck?: boolean | undefined;
  /** Reduces inputs outside the field modulo r, as snarkjs does, instead of refusing them. Default: false. */
  readonly reduceInputs?: boolean | undefined;
}

/** Options of preparing one proof, which is always checked. */
export interface PrepareGroth16Options extends Omit<Groth16Options, "selfCheck"> {
  /** Milliseconds after which the prepared proof is wiped. Default and maximum: 900,000. */
  readonly idleMs?: number | undefined;
}

/** A logger as snarkjs takes it. It is accepted in place of options, and nothing is logged. */
export interface Logger {
  /** By it, a logger is recognized. It is never called. */
  debug(message: string): void;
}

/** A proof with its public signals. */
export interface Groth16Result {
  /** In snarkjs's format. */
  proof: Groth16Proof;
  /** Decimal strings in the circuit's order. */
  publicSignals: PublicSignals;
}

/** A proof of which one public signal is not known yet; see `PreparedProof`. */
export interface PreparedGroth16 {
  /** Decimal strings in the circuit's order, with "0" for the free signal. */
  readonly publicSignals: readonly string[];
  /**
   * Makes the proof for a value of the free signal, in a few milliseconds. Works once.
   * @throws Groth16Error INPUT_INVALID, PREPARED_PROOF_GONE
   */
  finish(value: bigint): Promise<Groth16Result>;
  /** Wipes the secrets. Does nothing if they are wiped already. */
  discard(): void;
}

/** Circuits have no name here. */
const NAME = "";

/** snarkjs's options of the prover, which it takes after a logger and options of the witness generator. */
export interface ProverOptions {
  /** Uses no other thread. Default: false. */
  readonly singleThread?: boolean | undefined;
}

interface Settings {
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((stage: ProveStage) => void) | undefined;
  readonly singleThread: boolean;
  readonly selfCheck: boolean;
  readonly reduceInputs: boolean;
}

function settingsOf(given: Groth16Options | Logger | null | undefined, prover?: ProverOptions): Settings {
  const options: Groth16Options = given === null || given === undefined || "debug" in given ? {} : given;
  const {
    signal,
    onProgress,
    singleThread = prover?.singleThread ?? false,
    selfCheck = true,
    reduceInputs = false,
  } = options;
  return { signal, onProgress, singleThread, selfCheck, reduceInputs };
}

/** Remembers a value for each object, as long as the object exists. */
function perObject<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, V>();
  return (key) => {
    const value = known.get(key) ?? make(key);
    known.set(key, value);
    return value;
  };
}

const verificationKeys = new WeakMap<KeyFile, Promise<VerificationKey>>();

/** The verification key in a proving key. */
function verificationKeyIn(zkey: KeyFile): Promise<VerificationKey> {
  let key = verificationKeys.get(zkey);
  if (key === undefined) {
    key = verificationKeyOf(zkey);
    verificationKeys.set(zkey, key);
    // The next call tries again.
    key.catch(() => verificationKeys.delete(zkey));
  }
  return key;
}

/** What is kept with and without other threads: an engine, which has prepared keys, and its provers of files. */
interface Setup {
  readonly engine: ProvingEngine<KeyFile>;
  proverOf(wasm: Uint8Array, zkey: KeyFile, selfCheck: boolean): CircuitProver;
}

function createSetup(singleThread: boolean): Setup {
  const engine = engineOfFiles({ singleThread, pageWorkers: true });
  const provers = (selfCheck: boolean) =>
    perObject((zkey: KeyFile) =>
      perObject((wasm: Uint8Array) => {
        const verificationKey = () => verificationKeyIn(zkey);
        const files = { name: NAME, wasm: async () => wasm, zkey: async () => zkey, verificationKey };
        return proverOf(files, engine, selfCheck);
      }),
    );
  const [checking, unchecked] = [provers(true), provers(false)];
  return { engine, proverOf: (wasm, zkey, selfCheck) => (selfCheck ? checking : unchecked)(zkey)(wasm) };
}

const setups = new Map<boolean, Setup>();

function setupOf(singleThread: boolean): Setup {
  const setup = setups.get(singleThread) ?? createSetup(singleThread);
  setups.set(singleThread, setup);
  return setup;
}

/** Reads a key, and starts the threads that prove it, which takes as long as reading a generator or a witness. */
async function readKeyWithSetup(zkey: ZKArtifact, settings: Settings): Promise<Setup & { readonly key: KeyFile }> {
  const { singleThread } = settings;
  if (isDownloaded(zkey)) setupOf(singleThread).engine.start?.();
  const key = await readKey(zkey, settings);
  const setup = setupOf(usesOneThread(singleThread, key.byteLength));
  setup.engine.start?.();
  return { ...setup, key };
}

async function readFiles(wasm: ZKArtifact, zkey: ZKArtifact, settings: Settings): Promise<CircuitProver> {
  settings.onProgress?.("artifacts");
  const [generator, { key, proverOf }] = await Promise.all([
    readGenerator(wasm, settings.signal),
    readKeyWithSetup(zkey, settings),
  ]);
  return proverOf(generator, key, settings.selfCheck);
}

/** Progress of a prover whose files were read before it began. */
function progressOf({ onProgress }: Settings): ((stage: ProveStage) => void) | undefined {
  return onProgress && ((stage) => (stage === "artifacts" ? undefined : onProgress(stage)));
}

/**
 * Computes the witness and proves.
 * @param input every input signal of the circuit
 * @param wasm the witness generator, of circom 2
 * @param zkey the proving key, of snarkjs, or one that `groth16 compact` made of it
 * @param options or a logger of snarkjs, which gets nothing
 * @param _witnessOptions snarkjs's options of the witness generator are accepted and not used
 * @param proverOptions `singleThread`, where snarkjs takes it
 * @throws Groth16Error CIRCUIT_FILE_UNREADABLE, INPUT_INVALID, WITNESS_REFUSED, WITNESS_GENERATOR_INVALID,
 *   PROVING_KEY_INVALID, COMPACT_KEY_INVALID, COMPACT_KEY_UNSUPPORTED, CIRCUIT_TOO_LARGE, ENGINE_FAILED, ENGINE_UNSUPPORTED, PROOF_SELF_CHECK_FAILED, ABORTED
 */
async function fullProve(
  input: CircuitSignals,
  wasm: ZKArtifact,
  zkey: ZKArtifact,
  options?: Groth16Options | Logger | null,
  _witnessOptions?: unknown,
  proverOptions?: ProverOptions,
): Promise<Groth16Result> {
  const settings = settingsOf(options, proverOptions);
  const signals = parseSignals(NAME, input, settings.reduceInputs);
  const prover = await readFiles(wasm, zkey, settings);
  const { signal } = settings;
  const { proof, publicSignals } = await prover.prove(signals, { signal, onProgress: progressOf(settings) });
  return { proof: toProofJson(proof), publicSignals };
}

/**
 * Proves a witness that a generator computed before.
 * @param zkey the proving key, of snarkjs, or one that `groth16 compact` made of it
 * @param wtns the witness, a .wtns file
 * @param options or a logger of snarkjs, which gets nothing
 * @param proverOptions `singleThread`, where snarkjs takes it
 * @throws Groth16Error CIRCUIT_FILE_UNREADABLE, WITNESS_FILE_INVALID, PROVING_KEY_INVALID, COMPACT_KEY_INVALID, COMPACT_KEY_UNSUPPORTED, CIRCUIT_TOO_LARGE,
 *   ENGINE_FAILED, ENGINE_UNSUPPORTED, PROOF_SELF_CHECK_FAILED if the witness does not satisfy the circuit, ABORTED
 */
async function prove(
  zkey: ZKArtifact,
  wtns: ZKArtifact,
  options?: Groth16Options | Logger | null,
  proverOptions?: ProverOptions,
): Promise<Groth16Result> {
  const settings = settingsOf(options, proverOptions);
  const begin = (stage: ProveStage): void => {
    throwIfAborted(settings.signal);
    settings.onProgress?.(stage);
  };
  begin("artifacts");
  const reading = readKeyWithSetup(zkey, settings);
  // If the witness cannot be read either, nobody handles this failure.
  reading.catch(() => undefined);
  return withWitness(wtns, settings.signal, async (file) => {
    const { key, engine } = await reading;
    begin("witness");
    const witness = parseWtns(file);
    const [found, expected] = [witness.byteLength / SCALAR_BYTES, parseZkey(key).variables];
    if (found !== expected) throw invalidFile(`it has ${found} elements, but the proving key needs ${expected}`);
    const { selfCheck } = settings;
    const prover = { name: NAME, engine, selfCheck, verificationKey: () => verificationKeyIn(key) };
    const { proof, publicSignals } = await provenWitness(prover, key, witness, begin);
    return { proof: toProofJson(proof), publicSignals };
  });
}

/**
 * Makes everything of a proof that does not depend on one public signal. snarkjs has no such function.
 * @param input every input signal of the circuit; the free signal may be missing, its value is not used
 * @param free the name of a public signal that occurs only in a constraint with its own square
 * @throws Groth16Error the errors of `fullProve`, SIGNAL_NOT_FREE
 */
async function prepare(
  input: CircuitSignals,
  free: string,
  wasm: ZKArtifact,
  zkey: ZKArtifact,
  options: PrepareGroth16Options = {},
): Promise<PreparedGroth16> {
  const settings = settingsOf(options);
  const signals = parseSignals(NAME, input, settings.reduceInputs);
  const prover = await readFiles(wasm, zkey, settings);
  const prepared = await prover.prepare(signals, free, {
    ...{ signal: settings.signal, onProgress: progressOf(settings) },
    ...(options.idleMs === undefined ? {} : { idleMs: options.idleMs }),
  });
  return {
    publicSignals: prepared.publicSignals,
    async finish(value) {
      const { proof, publicSignals } = await prepared.finish(value);
      return { proof: toProofJson(proof), publicSignals };
    },
    discard: () => prepared.discard(),
  };
}

interface KnownKey {
  readonly text: string;
  readonly key: VerificationKey;
}

const knownKeys = new WeakMap<object, KnownKey>();
let lastText: KnownKey | undefined;

/** Parsing checks every point of a key, so it is done again only if the object has changed, or for another text. */
function verificationKeyFrom(source: unknown): VerificationKey {
  if (typeof source === "string") {
    if (lastText?.text !== source) lastText = { text: source, key: parseVerificationKey(source) };
    return lastText.key;
  }
  const text = typeof source === "object" && source !== null ? textOf(source) : undefined;
  if (text === undefined) return parseVerificationKey(source);
  const known = knownKeys.get(source as object);
  if (known?.text === text) return known.key;
  const key = parseVerificationKey(source);
  knownKeys.set(source as object, { text, key });
  return key;
}

/** Undefined if the object has no text, as with a cycle. */
function textOf(source: object): string | undefined {
  try {
    return JSON.stringify(source, (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));
  } catch {
    return undefined;
  }
}

/** Whether an error says that a proof or its signals do not encode anything, so that the proof is not valid. */
const isRefusal = (error: unknown): boolean =>
  error instanceof Groth16Error && /^(?:PROOF_|SIGNALS_|SIGNAL_RANGE)/.test(error.code);

/**
 * Whether a proof is valid for these signals. It is also false if the values do not encode a proof or signals canonically, so
 * that no input of another party makes it throw.
 * @param verificationKey snarkjs's verification_key.json: the object or its text
 * @param publicSignals the public signals in the circuit's order, decimal strings
 * @param proof in snarkjs's format
 * @param _logger accepted and not used
 * @throws Groth16Error VERIFICATION_KEY_INVALID
 */
async function verify(
  verificationKey: unknown,
  publicSignals: PublicSignals,
  proof: Groth16Proof,
  _logger?: unknown,
): Promise<boolean> {
  const key = verificationKeyFrom(verificationKey);
  try {
    return await createCircuitVerifier(key).verify(wordsOf(proof), signalTexts(publicSignals));
  } catch (error) {
    if (isRefusal(error)) return false;
    throw error;
  }
}

/**
 * Verifies many proofs of one circuit together. If all are valid, 16 proofs take about half the time of one by one; if not, at
 * most 1.5 times. snarkjs has no such function.
 * @returns for each proof whether it is valid; a wrong proof counts as valid with a probability below 2^-100
 * @throws Groth16Error VERIFICATION_KEY_INVALID
 */
async function verifyBatch(
  verificationKey: unknown,
  proofs: readonly { readonly publicSignals: PublicSignals; readonly proof: Groth16Proof }[],
): Promise<boolean[]> {
  const key = verificationKeyFrom(verificationKey);
  const results = proofs.map(() => false);
  const statements: { place: number; points: ProofPoints; signals: bigint[] }[] = [];
  for (const [place, each] of proofs.entries()) {
    try {
      const { proof, publicSignals } = Object(each) as typeof each;
      const points = decodeProof(wordsOf(proof));
      statements.push({ place, points, signals: decodeSignals(signalTexts(publicSignals), key.nPublic) });
    } catch (error) {
      if (!isRefusal(error)) throw error;
    }
  }
  const holds = await batchHolds(key, statements);
  for (const [index, { place }] of statements.entries()) results[place] = holds[index] === true;
  return results;
}

/**
 * The arguments of `verifyProof` of the contract that snarkjs exports, as text.
 * @throws Groth16Error PROOF_* and SIGNALS_MALFORMED or SIGNAL_RANGE if a value is not canonical
 */
async function exportSolidityCallData(proof: Groth16Proof, publicSignals: PublicSignals): Promise<string> {
  return toCallData(proof, publicSignals);
}

/** Groth16 over BN254, in place of snarkjs's object of this name. */
export const groth16 = { fullProve, prove, prepare, verify, verifyBatch, exportSolidityCallData };
