// Started by relayer-prover.ts; ends with its parent, however that ends.
import { SottoError } from "@sotto/protocol";
import { createProver, loadArtifacts } from "@sotto/prover";
import type { ProverAnswer, ProverQuestion } from "./relayer-prover.ts";

process.once("disconnect", () => process.exit(0));
// A parent that died while the imports above were read is announced no more.
if (!process.connected) process.exit(0);
// Ctrl-C reaches the whole process group: the parent decides when this ends.
process.on("SIGINT", () => {});

const prover = createProver(await loadArtifacts({ directory: process.argv[2]!, set: process.argv[3]! }));
const answer = (message: ProverAnswer) => process.send?.(message);

process.on("message", ({ id, circuit, input }: ProverQuestion) => {
  prover.prove(circuit, input).then(
    (proof) => answer({ id, proof }),
    (error: unknown) => {
      const code = error instanceof SottoError ? error.code : "PROVER_FAILED";
      answer({ id, failure: { code, message: error instanceof Error ? error.message : String(error) } });
    },
  );
});
