/** The part of `pnpm bench prepared` that runs in a page; bundled by the bench. */

import type { CircuitInput } from "@sotto/groth16";
import { connectProver } from "@sotto/wallet/browser";
import { IndexedDbStore } from "@sotto/wallet/indexeddb";
import { openBenchPayer } from "./prepared-payer.ts";

/** What the bench calls in the page. */
export interface PreparedPage {
  /** Connects to the worker at this path, which gets its files from the service. */
  connect(worker: string, service: string): Promise<void>;
  /** Prepares and finishes one proof. @returns milliseconds of finishing it, with the messages to the worker */
  finish(input: CircuitInput): Promise<number>;
  openPayer(notes: number): Promise<void>;
  /** @param prepared whether to prepare it first @returns milliseconds from the body of the 402 to the bundle */
  pay(prepared: boolean): Promise<number>;
}

let prover: Awaited<ReturnType<typeof connectProver>>;
let payer: Awaited<ReturnType<typeof openBenchPayer>>;

const page: PreparedPage = {
  async connect(path, service) {
    prover = await connectProver(new Worker(path, { type: "module" }), { source: { service, set: "development" } });
  },
  async finish(input) {
    const prepared = await prover.prepare?.("payment", input, "resourceUrl");
    const start = performance.now();
    await prepared?.finish(5n);
    return performance.now() - start;
  },
  async openPayer(notes) {
    payer = await openBenchPayer(prover, await IndexedDbStore.open("bench"), notes);
  },
  async pay(prepared) {
    if (prepared) await payer.prepare();
    return payer.pay();
  },
};
Object.assign(globalThis, { page });
