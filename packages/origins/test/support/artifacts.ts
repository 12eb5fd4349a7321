// The circuits' artifacts, and what proves and verifies origins with them, once for all files of a run.
import { join } from "node:path";
import { createProver, createVerifier, loadArtifacts, type Prover } from "@sotto/prover";
import type { World } from "../../../wallet/test/support/world.ts";

export const BUILD = join(import.meta.dirname, "..", "..", "..", "..", "circuits", "build");

export const artifacts = await loadArtifacts({ folder: BUILD });
export const verifier = createVerifier({ artifacts });
/** Proves origins. */
export const realProver = createProver(artifacts);
after(() => realProver.close());

/** A prover whose proofs of origin are real; those of payments are made up, as the chain in memory accepts them. */
export function originProver(world: World): Pick<Prover, "prove"> & Pick<World["prover"], "artifacts"> {
  const prove: Prover["prove"] = (circuit, input, options) =>
    circuit === "origin" ? realProver.prove(circuit, input, options) : world.prover.prove(circuit, input);
  return { artifacts: world.prover.artifacts, prove };
}
