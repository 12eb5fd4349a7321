import { mod } from "@sotto/certify/check/field";

export type InputValue = bigint | number | readonly InputValue[];
export type Inputs = Record<string, InputValue>;

/** Exports of circom's generated WASM (version 2 of its interface). */
interface Generator {
  init(sanity: number): void;
  getFieldNumLen32(): number;
  getInputSize(): number;
  getInputSignalSize(hashHigh: number, hashLow: number): number;
  setInputSignal(hashHigh: number, hashLow: number, index: number): void;
  writeSharedRWMemory(index: number, value: number): void;
  readSharedRWMemory(index: number): number;
  getWitnessSize(): number;
  getWitness(index: number): void;
  getMessageChar(): number;
}

/** The circuit's own generator rejected the input (an assertion or a `===`). This proves nothing about soundness. */
export class GeneratorRefusal extends Error {
  override readonly name = "GeneratorRefusal";
}

const flatten = (value: InputValue): bigint[] =>
  typeof value === "object" ? value.flatMap(flatten) : [mod(BigInt(value))];

/** FNV-1a, 64 bits: the generator identifies its inputs by this hash of their names. */
function hash(name: string): [number, number] {
  let value = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(name))
    value = ((value ^ BigInt(byte)) * 0x100000001b3n) & (2n ** 64n - 1n);
  return [Number(value >> 32n), Number(value & 0xffffffffn)];
}

/**
 * Runs a compiled generator and returns one value for each wire. Each run uses a new instance, because instances keep
 * state.
 * Throws GeneratorRefusal if the generator stops, Error if an input is missing, unknown or of another size.
 */
export async function generate(module: WebAssembly.Module, inputs: Inputs): Promise<bigint[]> {
  const messages: string[] = [];
  let wasm: Generator | undefined;
  const readMessage = () => {
    let text = "";
    for (let code = wasm?.getMessageChar() ?? 0; code !== 0; code = wasm?.getMessageChar() ?? 0)
      text += String.fromCharCode(code);
    messages.push(text);
  };
  const runtime = {
    exceptionHandler: (code: number) => {
      throw new GeneratorRefusal(`the generator stopped with code ${code}: ${messages.join(" ").trim()}`);
    },
    printErrorMessage: readMessage,
    writeBufferMessage: readMessage,
    showSharedRWMemory: () => {},
  };
  const instance = await WebAssembly.instantiate(module, { runtime });
  wasm = instance.exports as unknown as Generator;
  wasm.init(0);
  const words = wasm.getFieldNumLen32();
  let given = 0;
  for (const [name, value] of Object.entries(inputs)) {
    const [high, low] = hash(name);
    const values = flatten(value);
    const size = wasm.getInputSignalSize(high, low);
    if (size !== values.length) throw new Error(`input ${name} has ${values.length} values, the circuit takes ${size}`);
    for (const [index, element] of values.entries()) {
      for (let word = 0; word < words; word++)
        wasm.writeSharedRWMemory(word, Number((element >> BigInt(32 * word)) & 0xffffffffn));
      wasm.setInputSignal(high, low, index);
      given++;
    }
  }
  if (given !== wasm.getInputSize()) throw new Error(`${given} of ${wasm.getInputSize()} input signals were given`);
  return Array.from({ length: wasm.getWitnessSize() }, (_, wire) => {
    wasm.getWitness(wire);
    let value = 0n;
    for (let word = words - 1; word >= 0; word--) value = (value << 32n) | BigInt(wasm.readSharedRWMemory(word) >>> 0);
    return value;
  });
}
