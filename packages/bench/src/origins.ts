// `pnpm bench origins`: proving and checking that a note is in a curator's set, and proofs of payments in the same run.
import { dirname } from "node:path";
import { median } from "@sotto/command/median";
import { artifactPaths } from "@sotto/keys/circuits/paths";
import { readR1csHeader } from "@sotto/keys/circuits/r1cs-header";
import { createProver, createVerifier, loadArtifacts } from "@sotto/prover";
import { benchInputs } from "./inputs/statements.ts";
import type { Print } from "./main.ts";

export const about = "proving and checking an origin in one process, and the proof of a payment in the same run";

const CIRCUITS = ["origin", "payment"] as const;
/** Each turn makes one proof of each circuit, and checks it several times. */
const [TURNS, CHECKS] = [15, 5];

/** Both circuits take turns, after a proof and a check of each that are not counted. */
export async function run(print: Print): Promise<void> {
  const artifacts = await loadArtifacts({ folder: dirname(dirname(artifactPaths("origin").zkey)) });
  const [prover, verifier] = [createProver(artifacts), createVerifier({ artifacts })];
  const inputs = benchInputs();
  const none = () => ({ prove: [] as number[], check: [] as number[] });
  const times = { origin: none(), payment: none() };
  /** The origin's time in each turn, as a multiple of the payment's. */
  const ratios = none();
  const turn = async (circuit: (typeof CIRCUITS)[number]) => {
    const start = performance.now();
    const { proof, publicSignals } = await prover.prove(circuit, inputs[circuit]);
    const prove = performance.now() - start;
    const made = performance.now();
    for (let i = 0; i < CHECKS; i++)
      if (!(await verifier.verify(circuit, proof, publicSignals))) throw new Error("a valid proof was rejected");
    return { prove, check: (performance.now() - made) / CHECKS };
  };
  for (const circuit of CIRCUITS) await turn(circuit);
  for (let i = 1; i <= TURNS; i++) {
    process.stderr.write(`  turn ${i} of ${TURNS}\n`);
    for (const circuit of CIRCUITS) {
      const { prove, check } = await turn(circuit);
      times[circuit].prove.push(prove);
      times[circuit].check.push(check);
    }
    for (const figure of ["prove", "check"] as const)
      ratios[figure].push(times.origin[figure].at(-1)! / times.payment[figure].at(-1)!);
  }
  await prover.close();
  const { origin } = times;
  print("origin.constraints", readR1csHeader(artifactPaths("origin").r1cs).constraints, "constraints");
  print("origin.prove.ms", median(origin.prove), "ms");
  print("origin.prove.ratio", median(ratios.prove), "times");
  print("origin.check.ms", median(origin.check), "ms");
  print("origin.check.ratio", median(ratios.check), "times");
}
