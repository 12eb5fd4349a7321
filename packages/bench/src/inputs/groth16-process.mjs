// A process of `pnpm bench groth16`: makes proofs, and prints their times, and the largest memory of the process after the first,
// as JSON (`Proofs` of groth16.ts). Plain JavaScript, as users run it: Node takes 18 MB more to load TypeScript.
// Arguments: `sotto`, `plain` (sotto without relaxed SIMD, so without fused multiply-add) or `snarkjs`; the files of a random
// system: its proving key, its witness as a .wtns file; and the number of later proofs.
import { peak } from "./peak.mjs";

const [engine = "", zkey = "", wtns = "", count = ""] = process.argv.slice(2);
if (engine === "plain") {
  const { validate } = WebAssembly;
  // f64x2.relaxed_madd is fd 87 02.
  WebAssembly.validate = (bytes) => !Buffer.from(bytes).includes(Buffer.from("fd8702", "hex")) && validate(bytes);
}
const { groth16 } = engine === "snarkjs" ? await import("snarkjs") : await import("@sotto/groth16");
await groth16.prove(zkey, wtns);
const first = { wall: performance.now(), peak: peak() };
const later = [];
while (later.length < Number(count)) {
  const start = performance.now();
  await groth16.prove(zkey, wtns);
  later.push(performance.now() - start);
}
process.stdout.write(JSON.stringify({ ...first, later }), () => process.exit(0));
