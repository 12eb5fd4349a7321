/** A kernel's instance and its memory. */
import { PAIR_BYTES } from "./constants.ts";
import { PAGE_BYTES } from "./layout.ts";
import { fromLimbs, LIMBS, MONTGOMERY_BITS, toLimbs } from "./limbs.ts";

/** Addresses are signed 32-bit numbers. */
const MAX_ADDRESS = 0x7fff_ffff;

export type KernelFunction = (...args: number[]) => number | undefined;

/** A compiled kernel and the constants at the start of its memory. */
export interface Program {
  /** Order of the field. */
  readonly modulus: bigint;
  /** A `WebAssembly.Module` that imports its memory. Node's types have no such name without those of browsers. */
  readonly module: object;
  /** Written to address 0. */
  readonly constants: Uint8Array;
}

/** A kernel before it is compiled. */
export interface KernelCode {
  readonly modulus: bigint;
  /** A WebAssembly module. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly constants: Uint8Array<ArrayBuffer>;
}

/** Synchronous, because a promise could not be fulfilled while the witness is computed. V8 compiles functions when needed. */
export function compileCode({ modulus, bytes, constants }: KernelCode): Program {
  return { modulus, module: new WebAssembly.Module(bytes), constants };
}

/** A kernel needs more memory than there is, or than it can address. */
export class KernelMemoryError extends RangeError {}

/** An instance of a program, with a memory of its own and an allocator for it. */
export class Kernel {
  /** Order of the field. */
  readonly modulus: bigint;
  readonly #memory: WebAssembly.Memory;
  readonly #functions: Readonly<Record<string, KernelFunction>>;
  readonly #inverse: bigint;
  readonly #constants: Uint8Array;
  #free: number;
  /** The end of all that was allocated since `markSecrets`. */
  #top: number;

  private constructor(modulus: bigint, memory: WebAssembly.Memory, functions: unknown, constants: Uint8Array) {
    this.modulus = modulus;
    this.#memory = memory;
    this.#functions = functions as Readonly<Record<string, KernelFunction>>;
    this.#constants = constants;
    this.#free = constants.byteLength;
    this.#top = this.#free;
    // Fermat would also give R^-1, but the inverse of 2 is simply (p + 1)/2.
    this.#inverse = power((modulus + 1n) / 2n, MONTGOMERY_BITS, modulus);
  }

  /** A kernel with its own memory. */
  static async instantiate({ modulus, module, constants }: Program): Promise<Kernel> {
    const memory = new WebAssembly.Memory({ initial: Math.ceil(constants.byteLength / PAGE_BYTES) });
    new Uint8Array(memory.buffer).set(constants);
    const instance = await WebAssembly.instantiate(module as WebAssembly.Module, { env: { memory } });
    return new Kernel(modulus, memory, instance.exports, constants);
  }

  /** Constants, then what was allocated. Another buffer after memory is allocated. */
  get buffer(): ArrayBuffer {
    return this.#memory.buffer;
  }

  /** Calls a function of the program. @returns its result, or 0 if it has none */
  call(name: string, ...args: number[]): number {
    const target = this.#functions[name];
    if (target === undefined) throw new Error(`kernel has no function ${name}`);
    return target(...args) ?? 0;
  }

  /**
   * Returns an address that is a multiple of 16. Views of the memory created before the call may be stale afterwards.
   * @throws KernelMemoryError above 2 GiB, or if the system has no memory left
   */
  allocate(bytes: number): number {
    const address = this.#free;
    const end = address + Math.ceil(bytes / 16) * 16;
    if (end > MAX_ADDRESS) throw new KernelMemoryError("a kernel needs more than 2 GiB of memory");
    this.#free = end;
    this.#top = Math.max(this.#top, end);
    const missing = this.#free - this.#memory.buffer.byteLength;
    if (missing > 0) this.#grow(Math.ceil(missing / PAGE_BYTES));
    return address;
  }

  #grow(pages: number): void {
    try {
      this.#memory.grow(pages);
    } catch (cause) {
      throw new KernelMemoryError("the system has no memory left", { cause });
    }
  }

  /** Touches memory that will be allocated later: the system provides a page when it is first touched, which takes time. */
  touch(bytes: number): void {
    const mark = this.mark();
    const address = this.allocate(bytes);
    this.bytes(address, bytes).fill(0);
    this.release(mark);
  }

  /** The next free address, for `release`. */
  mark(): number {
    return this.#free;
  }

  /** Frees everything from an address on, such as a mark; the address is rounded up to a multiple of 16. */
  release(mark: number): void {
    this.#free = Math.ceil(mark / 16) * 16;
  }

  /** Like `mark`, for `wipe`. */
  markSecrets(): number {
    this.#top = this.#free;
    return this.#free;
  }

  /**
   * Like `release`, and zeroes all that was allocated since `markSecrets` returned the mark, and what functions keep among the
   * constants: witnesses are secret. Not the rest of the memory, of which a page costs the most when it is first touched.
   */
  wipe(mark: number): void {
    const memory = new Uint8Array(this.#memory.buffer);
    memory.fill(0, mark, this.#top);
    memory.set(this.#constants);
    this.#free = mark;
  }

  /** A view of doubles, until memory is allocated. */
  doubles(address: number, count: number): Float64Array {
    return new Float64Array(this.#memory.buffer, address, count);
  }

  /** A view of 32-bit words, until memory is allocated. */
  words(address: number, count: number): Int32Array {
    return new Int32Array(this.#memory.buffer, address, count);
  }

  /** A view of bytes, until memory is allocated. */
  bytes(address: number, count: number): Uint8Array {
    return new Uint8Array(this.#memory.buffer, address, count);
  }

  /** The number that an element in Montgomery form represents. */
  read(address: number): bigint {
    return (fromLimbs(this.doubles(address, LIMBS)) * this.#inverse) % this.modulus;
  }

  /** Allocates a pair with the number in both lanes, without conversion to Montgomery form. */
  allocatePair(value: bigint): number {
    const address = this.allocate(PAIR_BYTES);
    const doubles = this.doubles(address, 2 * LIMBS);
    for (const [limb, double] of toLimbs(value).entries()) doubles.fill(double, 2 * limb, 2 * limb + 2);
    return address;
  }

  /** Writes a number in Montgomery form. @param value from 0 to the modulus - 1 */
  write(address: number, value: bigint): void {
    this.doubles(address, LIMBS).set(toLimbs((value << MONTGOMERY_BITS) % this.modulus));
  }
}

export function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n;
  for (let square = base % modulus, rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}
