import { WalletError } from "../errors.ts";

/** Checks that a proof has the public signals of its statement. @throws WalletError PROOF_MISMATCH */
export function assertSignals(circuit: string, found: readonly string[], expected: readonly bigint[]): void {
  if (found.length === expected.length && found.every((word, i) => word === String(expected[i]))) return;
  throw new WalletError(
    "PROOF_MISMATCH",
    `the prover's proof has different public signals than the ${circuit} statement`,
  );
}
