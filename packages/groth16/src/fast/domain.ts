/** The evaluation domain of a circuit: tables of roots, and the transform from the domain to its coset. */
import { PAIR_BYTES } from "./constants.ts";
import { type Kernel, power } from "./kernel.ts";
import { TABLE_BYTES } from "./layout.ts";
import { MONTGOMERY_BITS } from "./limbs.ts";

/** r - 1 = 2^28·odd; 5 is the smallest non-square mod r, which snarkjs uses too. */
const TWO_ADICITY = 28n;
const NON_SQUARE = 5n;

export class Domain {
  readonly size: number;
  readonly #kernel: Kernel;
  readonly #forward: number;
  readonly #backward: number;
  readonly #shift: number;

  /** @param size a power of two, from 2 to 2^27 */
  constructor(kernel: Kernel, size: number) {
    const { modulus } = kernel;
    this.#kernel = kernel;
    this.size = size;
    const order = BigInt(size);
    if (order * 2n > 1n << TWO_ADICITY) throw new RangeError("domain is too large");
    // The coset consists of the odd powers of a root of twice the order, as the key's points for H require.
    const shift = power(NON_SQUARE, (modulus - 1n) / (2n * order), modulus);
    const root = (shift * shift) % modulus;
    this.#forward = this.#powers(1n, root, size / 2);
    this.#backward = this.#powers(1n, power(root, order - 1n, modulus), size / 2);
    // The order divides r - 1, so that its inverse is r - (r - 1)/order.
    this.#shift = this.#powers(modulus - (modulus - 1n) / order, shift, size);
    // Decimation in frequency leaves coefficient i at the index with i's bits reversed.
    kernel.call("reverse", this.#shift, size);
  }

  /**
   * Transforms evaluations on the domain into evaluations on the coset, in place; the order of pairs does not change.
   */
  toCoset(data: number): void {
    const end = data + this.size * PAIR_BYTES;
    for (let half = this.size / 2, stride = 1; half >= 1; half /= 2, stride *= 2)
      this.#kernel.call("stageFrequency", data, end, half * PAIR_BYTES, this.#backward, stride * TABLE_BYTES);
    this.#kernel.call("scale", data, end, this.#shift);
    for (let half = 1, stride = this.size / 2; half < this.size; half *= 2, stride /= 2)
      this.#kernel.call("stageTime", data, end, half * PAIR_BYTES, this.#forward, stride * TABLE_BYTES);
  }

  #powers(first: bigint, factor: bigint, count: number): number {
    const kernel = this.#kernel;
    const table = kernel.allocate(count * TABLE_BYTES);
    const mark = kernel.mark();
    const [value, step] = [first, factor].map((number) =>
      kernel.allocatePair((number << MONTGOMERY_BITS) % kernel.modulus),
    ) as [number, number];
    kernel.call("powers", value, step, table, table + count * TABLE_BYTES);
    kernel.release(mark);
    return table;
  }
}
