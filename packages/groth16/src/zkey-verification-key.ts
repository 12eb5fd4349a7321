/** The verification key that a proving key contains. */
import { sharedCurve } from "./curve.ts";
import type { Groth16Error } from "./errors.ts";
import type { KeyBytes } from "./fast/key-bytes.ts";
import { invalidKey, parseZkey } from "./fast/zkey.ts";
import { parseVerificationKey, type VerificationKey } from "./proof/verification-key.ts";

/**
 * Reads the verification key out of a .zkey file, checked as strictly as one in JSON.
 * @throws Groth16Error PROVING_KEY_INVALID, CIRCUIT_FILE_UNREADABLE
 */
export async function verificationKeyOf(file: KeyBytes): Promise<VerificationKey> {
  const { alpha1, beta2, gamma2, delta2, publicSignals, ic } = parseZkey(file);
  const points = ic();
  const { G1, G2 } = await sharedCurve();
  const g1 = (bytes: Uint8Array) => [...G1.toCoordinates(G1.fromFile(bytes)).map(String), "1"];
  const g2 = (bytes: Uint8Array) => {
    const [x0, x1, y0, y1] = G2.toCoordinates(G2.fromFile(bytes)).map(String);
    return [
      [x0, x1],
      [y0, y1],
      ["1", "0"],
    ];
  };
  try {
    return parseVerificationKey({
      ...{ protocol: "groth16", curve: "bn128", nPublic: publicSignals },
      ...{ vk_alpha_1: g1(alpha1), vk_beta_2: g2(beta2), vk_gamma_2: g2(gamma2), vk_delta_2: g2(delta2) },
      IC: points.map(g1),
    });
  } catch (error) {
    const { reason } = (error as Groth16Error).details;
    throw invalidKey(`the verification key in it is not valid: ${reason}`);
  }
}
