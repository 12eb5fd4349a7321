/**
 * Runs the witness generator that circom 2 compiles. snarkjs's own runner keeps one instance whose error text is never
 * cleared, allocates 2 GiB up front, logs to the console and puts input values into errors; this runner avoids all
 * four.
 */
import { Groth16Error, groth16Error, ofCircuit } from "../errors.ts";
import { witnessReaderCode } from "../fast/kernels.ts";
import { PAGE_BYTES } from "../fast/layout.ts";
import type { Witness } from "../fast/parts.ts";
import { SCALAR_FIELD_ORDER } from "../proof/orders.ts";
import { signalHash } from "./hash.ts";
import { type CircuitInput, flattenInput, invalid } from "./input.ts";

/**
 * The exports of a generator of circom 2. Field elements pass through a shared buffer, 32 bits at a time, least
 * significant first.
 */
interface Generator {
  readonly memory: WebAssembly.Memory;
  readonly getVersion: () => number;
  readonly getFieldNumLen32: () => number;
  readonly getRawPrime: () => void;
  readonly readSharedRWMemory: (index: number) => number;
  readonly writeSharedRWMemory: (index: number, word: number) => void;
  readonly init: (sanityCheck: number) => void;
  readonly getInputSize: () => number;
  readonly getInputSignalSize: (hashMsb: number, hashLsb: number) => number;
  readonly setInputSignal: (hashMsb: number, hashLsb: number, index: number) => void;
  readonly getWitnessSize: () => number;
  readonly getWitness: (index: number) => void;
  readonly getMessageChar: () => number;
}

/** 32-bit words of a field element. */
const WORDS = 8;
/** What a generator may use, bytes: circom's own stay far below it for circuits that the engine can prove. */
const MAX_MEMORY = 0x8000_0000;
/** Number and length of the messages in an error. */
const [MAX_MESSAGES, MAX_CHARACTERS] = [20, 1000];

export interface WitnessCalculator {
  /** @throws Groth16Error INPUT_INVALID, WITNESS_REFUSED */
  calculate(input: CircuitInput): Promise<Witness>;
}

/**
 * Compiles the generator once. Each calculation has its own instance, so that no error or secret is carried over to the
 * next.
 * @throws Groth16Error WITNESS_GENERATOR_INVALID
 */
export async function createWitnessCalculator(circuit: string, wasm: Uint8Array): Promise<WitnessCalculator> {
  const broken = (reason: string, cause?: unknown): Error => {
    const message = `The witness generator${ofCircuit(circuit)} is not usable: ${reason}.`;
    return groth16Error("WITNESS_GENERATOR_INVALID", message, { circuit, reason }, cause);
  };
  const module = await WebAssembly.compile(wasm as Uint8Array<ArrayBuffer>).catch((error: unknown) => {
    throw broken("it is not WebAssembly", error);
  });
  const instantiate = async (): Promise<{ generator: Generator; refusal: Refusal }> => {
    const refusal: Refusal = { code: undefined, trace: [] };
    let generator: Generator | undefined;
    const runtime = {
      exceptionHandler: (code: number) => {
        refusal.code = code;
        throw refusal;
      },
      printErrorMessage: () => {
        if (generator !== undefined && refusal.trace.length < MAX_MESSAGES) refusal.trace.push(readMessage(generator));
      },
      // A circuit's log may contain secrets: drain the buffer, so that they do not appear in the text of an error.
      writeBufferMessage: () => {
        if (generator !== undefined) readMessage(generator);
      },
      showSharedRWMemory: () => undefined,
    };
    const instance = await WebAssembly.instantiate(module, { runtime }).catch((error: unknown) => {
      throw broken("it does not have circom 2's interface", error);
    });
    generator = instance.exports as unknown as Generator;
    return { generator, refusal };
  };

  // The first calculation uses this instance.
  let unused: Awaited<ReturnType<typeof instantiate>> | undefined = await instantiate();
  const { generator: probe } = unused;
  try {
    const reason = flawOf(probe);
    if (reason !== undefined) throw broken(reason);
  } catch (error) {
    throw error instanceof Groth16Error ? error : broken("its functions fail", error);
  }

  return {
    async calculate(input) {
      const values = flattenInput(circuit, input);
      const { generator, refusal } = unused ?? (await instantiate());
      unused = undefined;
      try {
        assertSizes(circuit, values, generator);
        try {
          compute(generator, values);
        } catch {
          throw refused(circuit, refusal);
        }
        const witness = readWitness(generator);
        if (isTooLarge(generator)) {
          witness.fill(0);
          throw broken(TOO_LARGE);
        }
        return witness;
      } catch (error) {
        throw error instanceof Groth16Error ? error : broken("its functions fail", error);
      } finally {
        wipe(generator);
      }
    },
  };
}

const TOO_LARGE = "it needs more than 2 GiB of memory";
const isTooLarge = ({ memory }: Generator): boolean => memory.buffer.byteLength > MAX_MEMORY;

/** Why a generator cannot be used; undefined if it can. */
function flawOf(generator: Generator): string | undefined {
  if (typeof generator.getVersion !== "function" || generator.getVersion() !== 2)
    return "it was not compiled by circom 2";
  const { memory } = generator;
  if (!(memory instanceof WebAssembly.Memory)) return "it does not export its memory";
  if (isTooLarge(generator)) return TOO_LARGE;
  if (typeof generator.getInputSignalSize !== "function") return "its compiler is too old";
  generator.getRawPrime();
  if (generator.getFieldNumLen32() !== WORDS || readElement(generator) !== SCALAR_FIELD_ORDER)
    return "it is not over BN254's scalar field";
  const size = witnessBytes(generator);
  return size > 0 && size <= MAX_MEMORY ? undefined : "its witness is empty or takes more than 2 GiB";
}

/** The error that an instance of the generator reported through its imports. */
interface Refusal {
  code: number | undefined;
  readonly trace: string[];
}

/** Checks all names and sizes before the first value is set, because the last value starts the computation. */
function assertSizes(circuit: string, values: Map<string, bigint[]>, generator: Generator): void {
  let count = 0;
  for (const [name, elements] of values) {
    const expected = generator.getInputSignalSize(...signalHash(name));
    if (expected < 0) throw invalid(circuit, name, "the circuit has no input of this name");
    if (elements.length !== expected)
      throw invalid(circuit, name, `expected ${expected} field element(s), found ${elements.length}`);
    count += expected;
  }
  const total = generator.getInputSize();
  if (count === total) return;
  const given = [...values.keys()].join(", ");
  const reason = `the circuit takes ${total} field elements, found ${count}: an input is missing (given: ${given})`;
  throw invalid(circuit, "?", reason);
}

/** Sets the inputs. The last one starts the computation. */
function compute(generator: Generator, values: Map<string, bigint[]>): void {
  generator.init(0);
  for (const [name, elements] of values) {
    const [msb, lsb] = signalHash(name);
    elements.forEach((element, index) => {
      writeElement(generator, element);
      generator.setInputSignal(msb, lsb, index);
    });
  }
}

function wipe(generator: Generator): void {
  // circom's generators never grow their memory. Wiping what another one has grown would take all of the machine's.
  if (!isTooLarge(generator)) new Uint8Array(generator.memory.buffer).fill(0);
}

/** The generator's trace names templates and lines, but no values. */
function refused(circuit: string, { code, trace }: Refusal): Error {
  const where = trace.map((line) => line.trim()).join("; ");
  const what = code === undefined ? "the generator crashed" : code === 4 ? "an assertion failed" : `exception ${code}`;
  const message = `The inputs do not satisfy ${circuit === "" ? "the circuit" : `circuit ${circuit}`}: ${what}${where === "" ? "" : ` (${where})`}.`;
  return groth16Error("WITNESS_REFUSED", message, { circuit, what, where });
}

function readMessage(generator: Generator): string {
  let message = "";
  for (let char = generator.getMessageChar(); char !== 0; char = generator.getMessageChar()) {
    if (message.length === MAX_CHARACTERS) break;
    message += String.fromCharCode(char);
  }
  return message;
}

function readElement(generator: Generator): bigint {
  let element = 0n;
  for (let word = WORDS - 1; word >= 0; word--)
    element = (element << 32n) | BigInt(generator.readSharedRWMemory(word) >>> 0);
  return element;
}

function writeElement(generator: Generator, element: bigint): void {
  for (let word = 0; word < WORDS; word++)
    generator.writeSharedRWMemory(word, Number((element >> BigInt(32 * word)) & 0xffffffffn));
}

const witnessBytes = (generator: Generator): number => (generator.getWitnessSize() >>> 0) * WORDS * 4;

let reader: WebAssembly.Module | undefined;

function readWitness(generator: Generator): Witness {
  const size = witnessBytes(generator);
  if (size > MAX_MEMORY) throw new RangeError("the witness has grown");
  const memory = new WebAssembly.Memory({ initial: Math.ceil(size / PAGE_BYTES) });
  reader ??= new WebAssembly.Module(witnessReaderCode());
  const imports = { env: { memory }, generator: generator as unknown as WebAssembly.ModuleImports };
  const { exports } = new WebAssembly.Instance(reader, imports);
  (exports["read"] as (count: number) => void)(size / (WORDS * 4));
  return new Uint8Array(memory.buffer, 0, size);
}
