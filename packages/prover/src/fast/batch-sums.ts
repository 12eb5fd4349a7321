/** Sums of many lists of points at a time: in rounds, each adding neighbours of all lists in one batch. */
import { type Degree, pointBytes, scratchBytes } from "./curve-kernel.ts";
import type { Kernel } from "./kernel.ts";
import { addSlowly } from "./points.ts";

/** Steps (two additions each) of one call: what they need stays in a core's cache, an inversion costs 1% of them. */
const MAX_STEPS = 2048;
const PAIR_ADDRESS_BYTES = 8;

/** Lists of point addresses, one after the other in `addresses`. */
export interface Lists {
  readonly addresses: Int32Array;
  readonly starts: Int32Array;
  readonly lengths: Int32Array;
}

export class BatchAdder {
  readonly pointBytes: number;
  readonly #kernel: Kernel;
  readonly #degree: Degree;
  readonly #pairs: number;
  readonly #scratch: number;
  readonly #exceptions: number;

  constructor(kernel: Kernel, degree: Degree) {
    this.#kernel = kernel;
    this.#degree = degree;
    this.pointBytes = pointBytes(degree);
    this.#pairs = kernel.allocate(2 * MAX_STEPS * PAIR_ADDRESS_BYTES);
    this.#scratch = kernel.allocate(MAX_STEPS * scratchBytes(degree));
    this.#exceptions = kernel.allocate(MAX_STEPS * 4);
  }

  /** Adds pairs of points. @param pairs addresses, two a pair. @returns the first sum's address; the others follow. */
  add(pairs: Int32Array, count: number): number {
    const bytes = this.pointBytes;
    // An odd count is made even by adding the last pair twice.
    const out = this.#kernel.allocate((count + 1) * bytes);
    for (let done = 0; done < count; done += 2 * MAX_STEPS) {
      const batch = Math.min(2 * MAX_STEPS, count - done);
      this.#addBatch(pairs.subarray(2 * done, 2 * (done + batch)), batch, out + done * bytes);
    }
    return out;
  }

  #addBatch(pairs: Int32Array, count: number, out: number): void {
    const kernel = this.#kernel;
    const steps = (count + 1) >> 1;
    const memory = kernel.words(this.#pairs, 4 * steps);
    memory.set(pairs);
    if (count % 2 === 1) memory.copyWithin(2 * count, 2 * count - 2, 2 * count);
    const name = `add${this.#degree}`;
    const found = kernel.call(name, this.#pairs, steps, out, this.#scratch, this.#exceptions);
    if (found === 0) return;
    for (const step of kernel.words(this.#exceptions, found).slice()) {
      for (const pair of [2 * step, 2 * step + 1]) {
        const [left, right] = kernel.words(this.#pairs + pair * PAIR_ADDRESS_BYTES, 2) as unknown as [number, number];
        addSlowly(kernel, this.#degree, left, right, out + pair * this.pointBytes);
      }
    }
  }

  /** Sums each list; the sum's address is its first element afterwards, and its length 1 (an empty list stays so). */
  sum({ addresses, starts, lengths }: Lists): void {
    const bytes = this.pointBytes;
    let active = Array.from(lengths.keys()).filter((list) => (lengths[list] as number) > 1);
    while (active.length > 0) {
      const count = active.reduce((sum, list) => sum + ((lengths[list] as number) >> 1), 0);
      const pairs = new Int32Array(2 * count);
      let next = 0;
      for (const list of active) {
        const start = starts[list] as number;
        const paired = (lengths[list] as number) & -2;
        pairs.set(addresses.subarray(start, start + paired), next);
        next += paired;
      }
      let sum = this.add(pairs, count);
      for (const list of active) {
        const [start, length] = [starts[list] as number, lengths[list] as number];
        for (let index = 0; index < length >> 1; index++, sum += bytes) addresses[start + index] = sum;
        if (length % 2 === 1) addresses[start + (length >> 1)] = addresses[start + length - 1] as number;
        lengths[list] = (length + 1) >> 1;
      }
      active = active.filter((list) => (lengths[list] as number) > 1);
    }
  }
}
