import { createVerifier } from "@sotto/prover";
import type { ProofVerifier } from "./ports.ts";

/** What verifies proofs in this process. */
export async function openEngine(
  verificationKeys: Readonly<Record<string, unknown>>,
  _workers: number | undefined,
): Promise<ProofVerifier & { close(): Promise<void> }> {
  const verifier = createVerifier({ vkeys: verificationKeys });
  return { verify: (name, proof, signals) => verifier.verify(name, proof, signals), close: async () => undefined };
}
