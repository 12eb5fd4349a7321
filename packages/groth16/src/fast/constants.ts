/** Constants of a kernel, at fixed addresses from the start of its memory. */
import { bitsOf, LIMBS, toLimbs } from "./limbs.ts";

/** A field element in both lanes, or two field elements side by side: limb by limb. */
export const PAIR_BYTES = 80;

/** Collects the constants of a kernel. Each method returns an address; equal constants share one. */
export class ConstantPool {
  readonly #words: bigint[] = [];
  readonly #known = new Map<string, number>();

  /** Vectors, each with the same 64 bits in both lanes. */
  bits(...values: bigint[]): number {
    const key = values.join();
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const address = this.#words.length * 8;
    for (const value of values) this.#words.push(BigInt.asUintN(64, value), BigInt.asUintN(64, value));
    this.#known.set(key, address);
    return address;
  }

  /** A double in both lanes. */
  double(value: number): number {
    return this.bits(bitsOf(value));
  }

  /** A field element as doubles. */
  pair(value: bigint): number {
    return this.bits(...toLimbs(value).map(bitsOf));
  }

  /** A number below 2^257 as integers. */
  integers(value: bigint): number {
    return this.bits(...toLimbs(value).map(BigInt));
  }

  /** Memory for one pair that the kernel writes; never shared. */
  scratch(): number {
    const address = this.#words.length * 8;
    for (let word = 0; word < 2 * LIMBS; word++) this.#words.push(0n);
    return address;
  }

  /** The start of the kernel's memory. */
  bytes(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(BigUint64Array.from(this.#words).buffer);
  }
}
