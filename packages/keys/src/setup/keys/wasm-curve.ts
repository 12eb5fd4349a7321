/** Bytes of a field element, and of a point in affine and Jacobian coordinates. */
export const SIZES = {
  scalar: 32,
  g1: { affine: 64, jacobian: 96 },
  g2: { affine: 128, jacobian: 192 },
} as const;

export type GroupName = "g1" | "g2";

type WasmFunction = (...pointers: number[]) => number;

/** BN254 compiled to WebAssembly by ffjavascript, the library that snarkjs uses. Any thread can instantiate it. */
export interface CurveModule {
  module: WebAssembly.Module;
  generators: Record<GroupName, number>;
}

const PAGE = 65_536;
/** The first pages have the library's constants and scratch space; word 0 is the address of the first free byte. */
const INITIAL_PAGES = 25;

/**
 * One instance with its own memory. Its functions take pointers, and a call costs nanoseconds. The library's own
 * interface copies every operand; the copying would take most of the set-up's time.
 */
export class WasmCurve {
  readonly #memory = new WebAssembly.Memory({ initial: INITIAL_PAGES });
  readonly #exports: WebAssembly.Exports;
  #free: number;

  constructor(module: WebAssembly.Module) {
    this.#exports = new WebAssembly.Instance(module, { env: { memory: this.#memory } }).exports;
    this.#free = new DataView(this.#memory.buffer).getUint32(0, true);
  }

  function(name: string): WasmFunction {
    const found = this.#exports[name];
    if (typeof found !== "function") throw new TypeError(`the curve's wasm exports no function ${name}`);
    return found as WasmFunction;
  }

  /**
   * Reserves zeroed memory until `release`, with at least `scratch` mapped bytes behind it, which the library's batch
   * functions use as working space without allocating it.
   */
  allocate(length: number, scratch = 0): number {
    const pointer = (this.#free + 7) & ~7;
    this.#free = pointer + length;
    const missing = this.#free + scratch - this.#memory.buffer.byteLength;
    if (missing > 0) this.#memory.grow(Math.ceil(missing / PAGE));
    new Uint8Array(this.#memory.buffer, pointer, length).fill(0);
    new DataView(this.#memory.buffer).setUint32(0, this.#free, true);
    return pointer;
  }

  mark(): number {
    return this.#free;
  }

  release(mark: number): void {
    this.#free = mark;
  }

  write(pointer: number, bytes: Uint8Array): void {
    new Uint8Array(this.#memory.buffer, pointer, bytes.byteLength).set(bytes);
  }

  place(bytes: Uint8Array): number {
    const pointer = this.allocate(bytes.byteLength);
    this.write(pointer, bytes);
    return pointer;
  }

  read(pointer: number, length: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#memory.buffer.slice(pointer, pointer + length));
  }
}
