import type { Curve } from "ffjavascript";
import type { Groth16Key } from "./zkey.ts";

/** Writes bigints as decimal strings, like snarkjs. */
const stringify = (value: unknown): unknown => (Array.isArray(value) ? value.map(stringify) : String(value));

/** The verification key in the format of `snarkjs zkey export verificationkey`, including e(alpha, beta). */
export function verificationKey(curve: Curve, { verification }: Groth16Key): Record<string, unknown> {
  const { alpha1, beta2, gamma2, delta2, ic } = verification;
  return {
    protocol: "groth16",
    curve: "bn128",
    nPublic: ic.length - 1,
    vk_alpha_1: stringify(curve.G1.toObject(alpha1)),
    vk_beta_2: stringify(curve.G2.toObject(beta2)),
    vk_gamma_2: stringify(curve.G2.toObject(gamma2)),
    vk_delta_2: stringify(curve.G2.toObject(delta2)),
    vk_alphabeta_12: stringify(curve.Gt.toObject(curve.pairing(alpha1, beta2))),
    IC: ic.map((point) => stringify(curve.G1.toObject(point))),
  };
}
