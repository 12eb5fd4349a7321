import { type CircuitInput, Groth16Error, type PrepareOptions } from "@sotto/groth16";
import { CIRCUITS, type CircuitName } from "@sotto/protocol";
import type { WalletProver } from "@sotto/wallet";

/**
 * Replaces the prover in tests that do not test proofs. It returns the public signals of a real proof, but arbitrary
 * words as the proof. test/e2e uses the real prover.
 */
export class OracleProver implements WalletProver {
  readonly artifacts = { set: "development" };
  /** Number of prepared proofs that were made, finished, and discarded without being finished. */
  prepared = 0;
  finished = 0;
  discarded = 0;
  /** Called before a prepared proof is finished; a test can make it fail or wait. */
  beforeFinish: () => void | Promise<void> = () => undefined;
  /** Requested circuits, in order. */
  readonly asked: string[] = [];
  /** Called before each proof; a test can make it fail or wait. */
  before: (circuit: string) => void | Promise<void> = () => undefined;
  #count = 0;

  async prepare(circuit: string, input: CircuitInput, free: string, { signal }: PrepareOptions = {}) {
    this.asked.push(`prepare ${circuit}`);
    await this.before(`prepare ${circuit}`);
    signal?.throwIfAborted();
    const signalsFor = (value: bigint) => signalsOf(circuit, { ...input, [free]: value });
    this.prepared += 1;
    let state: "prepared" | "finished" | "discarded" = "prepared";
    return {
      publicSignals: signalsFor(0n),
      finish: async (value: bigint) => {
        if (state !== "prepared") throw new Groth16Error("PREPARED_PROOF_GONE", "This prepared proof is gone.");
        state = "finished";
        await this.beforeFinish();
        this.finished += 1;
        return { proof: this.#words(), publicSignals: signalsFor(value) };
      },
      discard: () => {
        if (state === "prepared") this.discarded += 1;
        if (state === "prepared") state = "discarded";
      },
    };
  }

  async prove(circuit: string, input: CircuitInput) {
    this.asked.push(circuit);
    await this.before(circuit);
    return { proof: this.#words(), publicSignals: signalsOf(circuit, input) };
  }

  #words(): string[] {
    this.#count += 1;
    return Array.from({ length: 8 }, (_, i) => String(1000 * this.#count + i));
  }
}

function signalsOf(circuit: string, input: CircuitInput): string[] {
  return CIRCUITS[circuit as CircuitName].publicSignals.flatMap(({ name }) => [input[name]].flat()).map(String);
}
