import { SottoError } from "@sotto/protocol";
import type { Verifier } from "@sotto/prover";
import { verifyOrigin } from "@sotto/prover/origin";
import type { OriginClaim } from "../core/claim.ts";

/**
 * Whether a claim's proof verifies. A proof that is malformed, such as with a point off its curve, does not.
 * @param verifier verifies the circuit `origin` with the keys of the pool's set
 * @throws SottoError CIRCUIT_UNKNOWN if the set of keys is older than the circuit; the errors of reading the key
 */
export async function verifyClaim(verifier: Pick<Verifier, "verify">, claim: OriginClaim): Promise<boolean> {
  try {
    return await verifyOrigin(verifier, claim);
  } catch (error) {
    if (error instanceof SottoError && error.code.startsWith("PROOF_")) return false;
    throw error;
  }
}
