/** The memory of the pairing's kernel: constants, then elements that functions keep while they run. */
import { ELEMENT_BYTES, toLimbs, toMontgomery } from "./limbs.ts";

/** The constants end at this address. */
export const SCRATCH_START = 4096;

/** Assigns addresses. */
export class Layout {
  readonly #constants: bigint[] = [];
  #scratch = SCRATCH_START;

  /** The address of an element of Fq or Fq2 with these parts. */
  constant(...parts: readonly bigint[]): number {
    return this.raw(parts.flatMap((part) => toLimbs(toMontgomery(part))));
  }

  /** The address of 32-bit words. */
  raw(words: readonly bigint[]): number {
    const address = 4 * this.#constants.length;
    this.#constants.push(...words);
    if (4 * this.#constants.length > SCRATCH_START) throw new Error("the constants do not fit");
    return address;
  }

  /** The address of memory that no other call returns. */
  scratch(bytes: number): number {
    const address = this.#scratch;
    this.#scratch += bytes;
    return address;
  }

  /** The first address after all scratch memory. */
  get end(): number {
    return this.#scratch;
  }

  constants(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(Int32Array.from(this.#constants, Number).buffer);
  }
}

/** Size of an element of Fq2. */
export const PAIR_BYTES = 2 * ELEMENT_BYTES;
