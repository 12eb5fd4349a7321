/** Sums many lists of points at the same time: each round adds neighbours of all lists in one batch. */

import type { Kernel } from "./kernel.ts";
import { type Degree, pointBytes, scratchBytes } from "./layout.ts";
import { correctSum } from "./points.ts";

/**
 * Number of steps (two additions each) in one call: few enough that their data fits into a core's cache, and enough
 * that the inversion takes only 1% of the time.
 */
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

  /**
   * Adds pairs of points.
   *
   * @param pairs addresses, two for each pair
   * @returns the first sum's address; the others follow
   */
  add(pairs: Int32Array, count: number): number {
    const bytes = this.pointBytes;
    // If the count is odd, the last pair is added twice.
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
        correctSum(kernel, this.#degree, left, right, out + pair * this.pointBytes);
      }
    }
  }

  /** Sums each list. Afterwards its first element is the sum's address and its length is 1; an empty list stays empty. */
  sum({ addresses, starts, lengths }: Lists): void {
    // Lists with more than one element, and the pairs of a round. Both shrink, so they are allocated once.
    const active = new Int32Array(lengths.length);
    const pairs = new Int32Array(addresses.length);
    let count = 0;
    for (let list = 0; list < lengths.length; list++) if ((lengths[list] as number) > 1) active[count++] = list;
    while (count > 0) {
      let next = 0;
      for (let index = 0; index < count; index++) {
        const list = active[index] as number;
        const start = starts[list] as number;
        const end = start + ((lengths[list] as number) & -2);
        for (let position = start; position < end; position++) pairs[next++] = addresses[position] as number;
      }
      const first = this.add(pairs.subarray(0, next), next >> 1);
      count = this.#replace({ addresses, starts, lengths }, active, count, first);
    }
  }

  /**
   * Replaces the added points by their sums, which start at `first`, and moves the lists that are still active to the front.
   *
   * @returns the number of active lists
   */
  #replace({ addresses, starts, lengths }: Lists, active: Int32Array, count: number, first: number): number {
    let [sum, kept] = [first, 0];
    for (let index = 0; index < count; index++) {
      const list = active[index] as number;
      const [start, length] = [starts[list] as number, lengths[list] as number];
      const half = length >> 1;
      for (let position = start; position < start + half; position++, sum += this.pointBytes) addresses[position] = sum;
      if (length % 2 === 1) addresses[start + half] = addresses[start + length - 1] as number;
      lengths[list] = length - half;
      if (length - half > 1) active[kept++] = list;
    }
    return kept;
  }
}
