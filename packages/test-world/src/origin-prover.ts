// A prover with real proofs of origins, and forged ones of payments.
import { createProver, loadArtifacts } from "@sotto/prover";
import { atEnd } from "@sotto/test-kit/at-end";
import { TrapdoorProver } from "./trapdoor-prover.ts";
import { ARTIFACTS } from "./wallets.ts";

const real = createProver(await loadArtifacts({ folder: ARTIFACTS }));
atEnd(async () => real.close());

/** Proves origins, and forges payments in milliseconds. */
export class OriginProver extends TrapdoorProver {
  override async prove(...[circuit, input]: Parameters<TrapdoorProver["prove"]>) {
    return circuit === "origin" ? real.prove(circuit, input) : super.prove(circuit, input);
  }
}
