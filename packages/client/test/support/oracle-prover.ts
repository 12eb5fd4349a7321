import { CIRCUITS, type CircuitName } from "@sotto/protocol";
import type { CircuitInput } from "@sotto/prover";
import type { WalletProver } from "../../src/wallet/core.ts";

/**
 * Replaces the prover in tests that do not test proofs. It returns the public signals of a real proof, but arbitrary
 * words as the proof. test/e2e uses the real prover.
 */
export class OracleProver implements WalletProver {
  readonly artifacts = { set: "development" };
  /** Requested circuits, in order. */
  readonly asked: string[] = [];
  /** Called before each proof; a test can make it fail or wait. */
  before: (circuit: string) => void | Promise<void> = () => undefined;
  #count = 0;

  async prove(circuit: string, input: CircuitInput) {
    this.asked.push(circuit);
    await this.before(circuit);
    this.#count += 1;
    const publicSignals = CIRCUITS[circuit as CircuitName].publicSignals
      .flatMap(({ name }) => [input[name]].flat())
      .map(String);
    return { proof: Array.from({ length: 8 }, (_, i) => String(1000 * this.#count + i)), publicSignals };
  }
}
