/** The part of `pnpm bench compact` that runs in a page; bundled by the bench. */
import { type CircuitSignals, groth16 } from "@sotto/groth16";

/** What the bench calls in the page. */
export interface CompactPage {
  /** Proves once with files of the page's server. @returns milliseconds from the call to the checked proof */
  prove(input: CircuitSignals, wasm: string, key: string): Promise<number>;
}

const page: CompactPage = {
  async prove(input, wasm, key) {
    const start = performance.now();
    await groth16.fullProve(input, wasm, key);
    return performance.now() - start;
  },
};
Object.assign(globalThis, { page });
