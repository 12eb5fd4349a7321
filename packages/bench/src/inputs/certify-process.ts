// A run of `pnpm bench certify`, in a process of its own, so that its memory is that of the certificates: checks the
// certificates of all circuits, with the first checker, or with both if the argument is "both". Each line is a name and a value.
import { problemLines, proveFiles } from "@sotto/certify/internal";
import { certifyCircuit, circuitFiles, committedResults } from "@sotto/keys/certify/circuits";
import { circuitNames } from "@sotto/keys/circuits/paths";
import { peak } from "./peak.mjs";

const both = process.argv[2] === "both";
for (const name of circuitNames) {
  const start = performance.now();
  const problems = problemLines(
    both ? await certifyCircuit(name) : proveFiles(await circuitFiles(name), committedResults(name)),
  );
  if (problems.length > 0) throw new Error(problems.join("\n"));
  if (!both) console.log(name, (performance.now() - start) / 1000);
}
console.log("cpu", process.resourceUsage().userCPUTime / 1e6);
console.log("memory", peak());
