// A process of `pnpm bench start`: imports the built prover, proves payments and prints what each proof took, as JSON.
// Arguments: the folder of the circuits' files, a file with the input (of node:v8), the number of proofs, and `load` or
// `warm` to call this method of the prover first.
import { readFileSync } from "node:fs";
import { deserialize } from "node:v8";

/** A method of the prover that does a part of the first proof in advance. */
export type Advance = "load" | "warm";

/** Milliseconds of one proof. */
export interface ProofTimes {
  /** Elapsed time. */
  readonly wall: number;
  /** Processor time of all threads. */
  readonly cpu: number;
}

const [folder = "", file = "", count = "", mode = ""] = process.argv.slice(2);
const input = deserialize(readFileSync(file));
const times: ProofTimes[] = [];
let [start, before] = [performance.now(), process.cpuUsage()];
const { createProver, loadArtifacts } = await import("@sotto/prover");
const imported = performance.now() - start;
const prover = createProver(await loadArtifacts({ folder }));
if (mode === "load" || mode === "warm") {
  await prover[mode]("payment");
  [start, before] = [performance.now(), process.cpuUsage()];
}
for (let proof = 0; proof < Number(count); proof++) {
  await prover.prove("payment", input);
  const { user, system } = process.cpuUsage(before);
  times.push({ wall: performance.now() - start, cpu: (user + system) / 1000 });
  [start, before] = [performance.now(), process.cpuUsage()];
}
process.stdout.write(JSON.stringify({ imported, times }));
