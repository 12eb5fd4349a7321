import { dirname } from "node:path";
import { median } from "@sotto/command/median";
import { artifactPaths, type CircuitName } from "@sotto/keys/circuits/paths";
import { stopSnarkjs } from "@sotto/keys/verifiers/stop-snarkjs";
import { createProver, loadArtifacts } from "@sotto/prover";
import { groth16 } from "snarkjs";
import { benchInputs } from "./inputs/statements.ts";
import type { Print } from "./main.ts";

export const about = "proving each circuit, including witness and self-check, and snarkjs fullProve in the same run";

const RUNS = 5;
/** Names of the figures. */
const CIRCUITS = {
  payment: "payment",
  elgamal_range: "range",
  withdrawal: "withdrawal",
  note_append: "append",
} as const;

interface Cost {
  /** Milliseconds of wall time, and of CPU time on all cores. */
  wall: number;
  cpu: number;
}

async function cost(action: () => Promise<unknown>): Promise<Cost> {
  const [start, before] = [performance.now(), process.cpuUsage()];
  await action();
  const wall = performance.now() - start;
  const { user, system } = process.cpuUsage(before);
  return { wall, cpu: (user + system) / 1000 };
}

const middle = (costs: readonly Cost[], of: keyof Cost): number => median(costs.map((one) => one[of]));

/**
 * Measures both engines after a warm-up proof. They take turns, so that other load on the machine affects both. snarkjs
 * uses one thread per core, ours at most two.
 */
export async function run(print: Print): Promise<void> {
  const inputs = benchInputs();
  const artifacts = await loadArtifacts({ folder: dirname(dirname(artifactPaths("payment").zkey)) });
  const prover = createProver(artifacts);
  process.stderr.write(`  engine ${prover.engine.name}\n`);
  try {
    for (const [circuit, name] of Object.entries(CIRCUITS) as [CircuitName, string][]) {
      const { wasm, zkey } = artifactPaths(circuit);
      const input = inputs[circuit];
      const ours = () => cost(() => prover.prove(circuit, input));
      const theirs = () => cost(() => groth16.fullProve(input as never, wasm, zkey));
      const first = await ours();
      await theirs();
      const costs: [Cost[], Cost[]] = [[], []];
      for (let run = 0; run < RUNS; run++) {
        process.stderr.write(`  ${circuit}, proof ${run + 1} of ${RUNS}\n`);
        costs[0].push(await ours());
        costs[1].push(await theirs());
      }
      const [mine, snarkjs] = costs;
      print(`prove.${name}.ms`, middle(mine, "wall"), "ms");
      print(`prove.${name}.snarkjs.ms`, middle(snarkjs, "wall"), "ms");
      print(`prove.${name}.ratio`, middle(snarkjs, "wall") / middle(mine, "wall"), "times");
      print(`prove.${name}.cpu.ms`, middle(mine, "cpu"), "ms");
      print(`prove.${name}.snarkjs.cpu.ms`, middle(snarkjs, "cpu"), "ms");
      print(`prove.${name}.first.ms`, first.wall, "ms");
      await prover.close();
    }
  } finally {
    await stopSnarkjs();
  }
}
