// A run of `pnpm bench certify`, in a process of its own: compiles and certifies a circuit of Merkle paths. Arguments: the number of
// paths, and of levels. Each line is a name and a value.
import { certify } from "@sotto/certify";
import { largeCircuit } from "@sotto/test-kit/large-circuit";
import { compileSource } from "./certify-source.ts";
import { peak } from "./peak.mjs";

const [paths, levels] = process.argv.slice(2).map(Number) as [number, number];
let start = performance.now();
const seconds = () => (performance.now() - start) / 1000;
const circuit = await compileSource(largeCircuit(paths, levels));
console.log("compile", seconds());
start = performance.now();
const outcome = certify(circuit);
if (outcome.verdict !== "certified") throw new Error(`a circuit of ${paths} paths is ${outcome.verdict}`);
console.log("certify", seconds());
console.log("constraints", outcome.checked.constraints);
console.log("memory", peak());
