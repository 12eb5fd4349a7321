/**
 * Groth16's equation, e(A, B) = e(alpha, beta) · e(sum of s_i·IC_i, gamma) · e(C, delta), with the part that depends
 * only on the key computed once. Three Miller loops and one final exponentiation remain, about 10 ms.
 */

import { type Curve, type Point, type Prepared, sharedCurve } from "../curve.ts";
import type { ProofPoints } from "../proof/decode.ts";
import type { VerificationKey } from "../proof/verification-key.ts";

interface PreparedKey {
  readonly curve: Curve;
  readonly alphaBeta: Prepared;
  readonly gamma: Prepared;
  readonly delta: Prepared;
  readonly ic: readonly Point[];
}

const prepared = new WeakMap<VerificationKey, Promise<PreparedKey>>();

export async function pairingHolds(
  key: VerificationKey,
  { a, b, c }: ProofPoints,
  signals: readonly bigint[],
): Promise<boolean> {
  const { curve, alphaBeta, gamma, delta, ic } = await preparedKey(key);
  const { G1, G2 } = curve;
  const bound = signals.reduce((sum, signal, index) => {
    return G1.add(sum, G1.multiply(ic[index + 1] as Point, signal));
  }, ic[0] as Point);
  const product = curve.millerLoop([
    [curve.prepareG1(G1.fromCoordinates(a)), curve.prepareG2(G2.fromCoordinates(b.flat()))],
    [curve.prepareG1(G1.negate(bound)), gamma],
    [curve.prepareG1(G1.negate(G1.fromCoordinates(c))), delta],
  ]);
  return curve.finalExponentiation(product).every((byte, index) => byte === alphaBeta[index]);
}

/** Computes the part that depends only on the key, if that was not done before. */
export async function prepareVerification(key: VerificationKey): Promise<void> {
  await preparedKey(key);
}

function preparedKey(key: VerificationKey): Promise<PreparedKey> {
  let preparing = prepared.get(key);
  if (preparing === undefined) {
    preparing = prepare(key);
    prepared.set(key, preparing);
  }
  return preparing;
}

async function prepare(key: VerificationKey): Promise<PreparedKey> {
  const curve = await sharedCurve();
  const { G1, G2 } = curve;
  const g1 = ([x, y]: VerificationKey["vk_alpha_1"]): Point => G1.fromCoordinates([x, y].map(BigInt));
  const g2 = ([x, y]: VerificationKey["vk_beta_2"]): Prepared =>
    curve.prepareG2(G2.fromCoordinates([...x, ...y].map(BigInt)));
  return {
    curve,
    alphaBeta: curve.finalExponentiation(curve.millerLoop([[curve.prepareG1(g1(key.vk_alpha_1)), g2(key.vk_beta_2)]])),
    gamma: g2(key.vk_gamma_2),
    delta: g2(key.vk_delta_2),
    ic: key.IC.map(g1),
  };
}
