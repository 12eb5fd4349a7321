/** Sums many lists of points at the same time: each round adds neighbours of all lists in one batch. */

import type { Kernel } from "./kernel.ts";
import { type Degree, ENTRY_BYTES, pointBytes, scratchBytes } from "./layout.ts";
import { correctSum } from "./points.ts";

/**
 * Number of steps (two additions each) in one call: few enough that their data fits into a core's cache, and enough
 * that the inversion takes only 1% of the time.
 */
export const MAX_STEPS = 2048;
const PAIR_ADDRESS_BYTES = 2 * ENTRY_BYTES;

/** Lists in a kernel's memory (bucket-kernel.ts), one after the other. */
export interface Lists {
  readonly start: number;
  readonly end: number;
  readonly entries: number;
}

export class BatchAdder {
  readonly pointBytes: number;
  readonly #kernel: Kernel;
  readonly #degree: Degree;
  readonly #scratch: number;
  readonly #exceptions: number;

  constructor(kernel: Kernel, degree: Degree) {
    this.#kernel = kernel;
    this.#degree = degree;
    this.pointBytes = pointBytes(degree);
    this.#scratch = kernel.allocate(MAX_STEPS * scratchBytes(degree));
    this.#exceptions = kernel.allocate(MAX_STEPS * 4);
  }

  /** Allocates memory for the addresses of pairs, with room for one more, which `add` may write. */
  allocatePairs(count: number): number {
    return this.#kernel.allocate((count + 1) * PAIR_ADDRESS_BYTES);
  }

  /**
   * Adds pairs of points.
   * @param pairs start of the pairs' addresses, from `allocatePairs`
   * @param end the end of the pairs' addresses
   * @returns the first sum's address; the others follow
   */
  add(pairs: number, end: number): number {
    const kernel = this.#kernel;
    const count = (end - pairs) / PAIR_ADDRESS_BYTES;
    // If the count is odd, the last pair is added twice.
    if (count % 2 === 1) kernel.bytes(0, end + PAIR_ADDRESS_BYTES).copyWithin(end, end - PAIR_ADDRESS_BYTES, end);
    const out = kernel.allocate((count + 1) * this.pointBytes);
    for (let done = 0; done < count; done += 2 * MAX_STEPS) {
      const steps = Math.min(MAX_STEPS, (count - done + 1) >> 1);
      this.#addBatch(pairs + done * PAIR_ADDRESS_BYTES, steps, out + done * this.pointBytes);
    }
    return out;
  }

  #addBatch(pairs: number, steps: number, out: number): void {
    const kernel = this.#kernel;
    const found = kernel.call(`add${this.#degree}`, pairs, steps, out, this.#scratch, this.#exceptions);
    if (found === 0) return;
    for (const step of kernel.words(this.#exceptions, found).slice()) {
      for (const pair of [2 * step, 2 * step + 1]) {
        const [left, right] = kernel.words(pairs + pair * PAIR_ADDRESS_BYTES, 2) as unknown as [number, number];
        correctSum(kernel, this.#degree, left, right, out + pair * this.pointBytes);
      }
    }
  }

  /** Sums each list. Afterwards its only entry is the sum; an empty list stays empty. */
  sum({ start, end, entries }: Lists): void {
    const kernel = this.#kernel;
    const pairs = this.allocatePairs(entries / 2);
    for (;;) {
      const last = kernel.call("gather", start, end, pairs);
      if (last === pairs) return;
      kernel.call("replace", start, end, this.add(pairs, last), this.pointBytes);
    }
  }
}
