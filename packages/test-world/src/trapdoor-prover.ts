// A prover whose proofs verify and take milliseconds: it forges them with the trapdoor of the development keys, without a
// witness. It would also prove false statements, but wallets never ask it to.

import type { CircuitInput } from "@sotto/groth16";
import { proveWithTrapdoor } from "@sotto/keys/setup/trapdoor";
import { CIRCUITS, type CircuitName } from "@sotto/protocol";
import type { WalletOptions } from "@sotto/wallet";

type WalletProver = NonNullable<WalletOptions["prover"]>;

export class TrapdoorProver implements WalletProver {
  readonly artifacts = { set: "development" };
  /** Names of the circuits that it proved, in order. */
  readonly asked: string[] = [];
  /** Runs before each proof; tests abort or kill the process here. */
  before: (circuit: string) => void | Promise<void> = () => undefined;

  async prove(circuit: string, input: CircuitInput) {
    this.asked.push(circuit);
    await this.before(circuit);
    const signals = CIRCUITS[circuit as CircuitName].publicSignals.flatMap(({ name }) => [input[name]].flat());
    return proveWithTrapdoor(
      circuit,
      signals.map((signal) => BigInt(signal as bigint)),
    );
  }
}
