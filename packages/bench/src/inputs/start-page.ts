/** The part of `pnpm bench start` that runs in a page; bundled by the bench. */

import type { CircuitInput } from "@sotto/groth16";
import { connectProver } from "@sotto/wallet/browser";
import type { Advance } from "./start-process.ts";

/** What the bench calls in the page. */
export interface StartPage {
  /**
   * Starts the worker at this path and proves payments with it.
   * @param service serves the files that are not in IndexedDB yet
   * @param first the prover's method to call first
   * @returns milliseconds of each proof; the first one includes starting the worker, unless a method is called first
   */
  prove(worker: string, service: string, input: CircuitInput, count: number, first?: Advance): Promise<number[]>;
}

const page: StartPage = {
  async prove(path, service, input, count, first) {
    const times: number[] = [];
    let start = performance.now();
    const worker = new Worker(path, { type: "module" });
    const prover = await connectProver(worker, { source: { service, set: "development" } });
    if (first !== undefined) {
      await prover[first]?.("payment");
      start = performance.now();
    }
    for (let proof = 0; proof < count; proof++) {
      await prover.prove("payment", input);
      times.push(performance.now() - start);
      start = performance.now();
    }
    worker.terminate();
    return times;
  },
};
Object.assign(globalThis, { page });
