// The child process of relayer-prover.ts. It ends when its parent ends, even if the parent was killed.
import { SottoError } from "@sotto/protocol";
import { createProver, loadArtifacts } from "@sotto/prover";
import type { ProverReply, ProverRequest } from "./relayer-prover.ts";

process.once("disconnect", () => process.exit(0));
// If the parent ended while the modules above were loading, no `disconnect` event follows.
if (!process.connected) process.exit(0);
// A shell sends the SIGINT of Ctrl-C, and SIGHUP with `kill -HUP %1`, to the whole process group, but the parent decides when this
// process ends.
for (const signal of ["SIGINT", "SIGHUP"] as const) process.on(signal, () => {});

const prover = createProver(await loadArtifacts({ folder: process.argv[2]!, set: process.argv[3]! }));
const answer = (message: ProverReply) => process.send?.(message);

process.on("message", ({ id, circuit, input }: ProverRequest) => {
  prover.prove(circuit, input).then(
    (proof) => answer({ id, proof }),
    (error: unknown) => {
      const code = error instanceof SottoError ? error.code : "PROVER_FAILED";
      answer({ id, failure: { code, message: error instanceof Error ? error.message : String(error) } });
    },
  );
});
