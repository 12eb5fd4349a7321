import { FIELD_MODULUS } from "../field.ts";
import { ELEMENT, RADIX } from "./limb-code.ts";
import { FREE, type Program, programBytes } from "./program.ts";

const PAGE = 65_536;
/** Poseidon's constants for the protocol's five widths take 200 kB; other widths grow the memory. */
const PAGES = 8;

/**
 * The part of the WebAssembly API that is used here, declared because the package compiles without DOM and Node types.
 */
interface WebAssemblyApi {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (
    module: object,
  ) => { exports: Program & { memory: { buffer: ArrayBuffer; grow(pages: number): number } } };
}

/**
 * Field arithmetic in WebAssembly, about five times as fast as bigints. Elements live at addresses from `allocate`, which
 * are never freed: allocate only constants and fixed scratch space, nothing per call.
 */
export class FieldEngine {
  readonly program: Program;
  readonly #memory: { buffer: ArrayBuffer; grow(pages: number): number };
  #view: DataView;
  #end = FREE;
  readonly #words: number;
  readonly #one: number;
  readonly #square: number;

  constructor(api: WebAssemblyApi) {
    const { exports } = new api.Instance(new api.Module(programBytes(PAGES)));
    this.program = exports;
    this.#memory = exports.memory;
    this.#view = new DataView(exports.memory.buffer);
    this.#words = this.allocate(1);
    this.#one = this.allocate(1);
    this.#square = this.allocate(1);
    this.#split(this.#one, 1n);
    this.#split(this.#square, (RADIX * RADIX) % FIELD_MODULUS);
  }

  /** Allocates room for `count` elements. */
  allocate(count: number): number {
    const address = this.#end;
    this.#end += count * ELEMENT;
    const missing = this.#end - this.#memory.buffer.byteLength;
    if (missing > 0) {
      this.#memory.grow(Math.ceil(missing / PAGE));
      this.#view = new DataView(this.#memory.buffer);
    }
    return address;
  }

  /** Writes field elements, one after another. */
  write(address: number, values: readonly bigint[]): void {
    for (let i = 0, to = address; i < values.length; i++, to += ELEMENT) {
      this.#split(to, values[i]!);
      this.program.mul(to, to, this.#square);
    }
  }

  /** Allocates and writes. */
  place(values: readonly bigint[]): number {
    const address = this.allocate(values.length);
    this.write(address, values);
    return address;
  }

  /** The element at `address`, in [0, p). */
  read(address: number): bigint {
    const words = this.#words;
    // Converts from Montgomery form; the result is between 0 and p, both included. Joining in place is safe, because
    // word i does not need any limb below 2 i.
    this.program.mul(words, address, this.#one);
    this.program.join(words, words);
    const view = this.#view;
    const high = (view.getBigUint64(words + 24, true) << 64n) | view.getBigUint64(words + 16, true);
    const low = (view.getBigUint64(words + 8, true) << 64n) | view.getBigUint64(words, true);
    const value = (high << 128n) | low;
    return value === FIELD_MODULUS ? 0n : value;
  }

  #split(address: number, value: bigint): void {
    for (let i = 0, rest = value; i < 4; i++, rest >>= 64n) this.#view.setBigUint64(this.#words + 8 * i, rest, true);
    this.program.split(address, this.#words);
  }
}

let engine: FieldEngine | null | undefined;

/** The engine, or null if WebAssembly is missing or a content security policy forbids it; callers then use bigints. */
export function fieldEngine(): FieldEngine | null {
  if (engine === undefined) {
    try {
      engine = new FieldEngine((globalThis as unknown as { WebAssembly: WebAssemblyApi }).WebAssembly);
    } catch {
      engine = null;
    }
  }
  return engine;
}
