// A prover whose proofs verify, made in milliseconds from the development keys' trapdoor: it proves what it is given,
// without a witness. Wallets never give it anything false here.
import type { WalletOptions } from "@sotto/client";
import { CIRCUITS, type CircuitName } from "@sotto/protocol";
import type { CircuitInput } from "@sotto/prover";
import { proveWithTrapdoor } from "../../scripts/setup/trapdoor.ts";

type WalletProver = NonNullable<WalletOptions["prover"]>;

export class TrapdoorProver implements WalletProver {
  readonly artifacts = { set: "development" };
  /** Circuits asked for, in order. */
  readonly asked: string[] = [];
  /** Run before each proof: where tests abort or die. */
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
